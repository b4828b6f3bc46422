"""Rules of the games, as data: boards, winning sets, turn rules, setups."""
