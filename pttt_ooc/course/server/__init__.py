"""The processes and commands of a course.

Modules: ``serve``: one command for all processes. ``app``: the application. ``web_process``: the web process.
``strategy_worker``, ``agent_worker``: workers as programs. ``strategy_parts``, ``bot_parts``: pages beside the
course's. ``backup``: a copy of a course. ``client``: submitting from the command line. ``commands``,
``people_commands``, ``grade_commands``, ``desk_commands``, ``bot_commands``: the commands.
"""
