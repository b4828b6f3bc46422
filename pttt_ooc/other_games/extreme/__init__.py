"""The Extreme TicTacToe tournament.

A bot runs in a process of its own behind walls: ``launcher``, ``runner`` and ``source_reader`` are programs that stand
alone. The first builds the walls, the second calls the bot, the third reads its file.  None imports the package;
``python2_semantics`` runs beside the second, and ``source_remarks`` beside the third.

Modules: ``walls`` (what a bot sees), ``system_calls`` (what it may do, and the kernel's notices of the rest),
``launcher``, ``runner`` (with the board that bots get), ``function_runner`` (for files with a function),
``python2_semantics`` (what converted programs mean), ``source_reader``, ``source_remarks`` (differences of Python 2 and
3, formal rules), ``clock`` (of a move), ``walled_process`` (a process behind walls, and its messages), ``bot_programs``
(bots as files, read behind walls), ``bot_process`` (a bot, asked for moves in time), ``referee`` (the rules), ``match``
(of bots, or a bot and a person), ``broken_off`` (matches that the machine breaks off), ``bot_version`` (the version of
Python of a bot), ``bot_check`` (does a bot play?), ``hard_positions`` (where a bot forfeited or was slow),
``opponents`` (our own bots, and whom people may play), ``league`` (pools and standings), ``match_logs`` (matches on
disk), ``tournament_record`` and ``tournament`` (a tournament on disk), ``practice_record`` and ``practice`` (a practice
league on disk), ``cores`` (one bot on each), ``settings`` (the published terms) and ``pipeline`` (a tournament as jobs
of the workflow), ``analysis`` (statistics of a match), ``boards`` (moves and boards for people), ``analyst``
(evaluations by the strong bot), ``play/`` (people against bots), ``pages/`` (in the browser), ``terminal/`` (commands),
``search`` (of the strong bot in ``bots/``), ``kit`` and ``kit_program`` (one file with which teams play without the
package), ``wing`` (the wing describes itself).
"""
