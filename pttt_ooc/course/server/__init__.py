"""The processes and commands of a course.

Modules: ``serve``: one command for all processes. ``app``: the application. ``webserver``, ``web_process``: the web
process. ``strategy_worker``, ``agent_worker``: workers as programs. ``strategy_parts``, ``bot_parts``: pages beside
the course's. ``game_processes``: workers of further games. ``backup``: a copy of a course. ``client``: submitting
from the command line. ``commands``, ``term_commands``, ``people_commands``, ``grade_commands``, ``desk_commands``,
``copy_commands``, ``bot_commands``: the commands.
"""
