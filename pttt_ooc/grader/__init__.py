"""The course's grader: teams upload strategies, which are checked, evaluated exactly, and compared.

Two processes share one data directory: the web server takes uploads and shows results, the worker judges.
What is true is in the database; the queue, the gradients and the index can be made anew from it and from
the uploads.  No numerics here: those are :mod:`pttt_ooc.solving.assess` and :mod:`pttt_ooc.solving.evaluation`.

From the ground up: :mod:`.settings`, :mod:`.models`, :mod:`.database`, :mod:`.storage`, :mod:`.queue`; then what is
done with them: :mod:`.teams`, :mod:`.submissions`, :mod:`.validation`, :mod:`.evaluation`, :mod:`.standings`,
:mod:`.jobs`; then the processes: :mod:`.worker`, :mod:`.app` with its rooms :mod:`.pages`, :mod:`.api`,
:mod:`.receiving` and :mod:`.security`, and :mod:`.serve` over both; last the :mod:`.commands`.
"""
