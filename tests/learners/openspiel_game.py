"""A small game as a game of OpenSpiel, by the histories of `naive`: its algorithms check ours."""

import pytest

from tests.kits import naive

pyspiel = pytest.importorskip("pyspiel", reason="OpenSpiel is not installed: learners go without their referee")


class SmallGame(pyspiel.Game):
    """A game for OpenSpiel."""

    def __init__(self, game, params=None):
        kind = pyspiel.GameType(
            short_name=f"python_{game.name.replace('-', '_')}",
            long_name=game.name,
            dynamics=pyspiel.GameType.Dynamics.SEQUENTIAL,
            chance_mode=pyspiel.GameType.ChanceMode.DETERMINISTIC,
            information=pyspiel.GameType.Information.IMPERFECT_INFORMATION,
            utility=pyspiel.GameType.Utility.ZERO_SUM,
            reward_model=pyspiel.GameType.RewardModel.TERMINAL,
            max_num_players=2,
            min_num_players=2,
            provides_information_state_string=True,
            provides_information_state_tensor=False,
            provides_observation_string=False,
            provides_observation_tensor=False,
        )
        size = pyspiel.GameInfo(
            num_distinct_actions=game.squares,
            max_chance_outcomes=0,
            num_players=2,
            min_utility=-1.0,
            max_utility=1.0,
            utility_sum=0.0,
            max_game_length=2 * game.squares,
        )
        super().__init__(kind, size, params or {})
        self.rules = game

    def new_initial_state(self):
        return SmallState(self)


class SmallState(pyspiel.State):
    """A history; the text of an infoset begins with the player, as OpenSpiel's tables hold both players."""

    def __init__(self, game):
        super().__init__(game)
        self.place = naive.History.start(game.rules)

    def current_player(self):
        return pyspiel.PlayerId.TERMINAL if self.place.is_terminal() else self.place.player

    def _legal_actions(self, player):
        return self.place.legal() if player == self.place.player else []

    def _apply_action(self, action):
        self.place = self.place.attempt(action)

    def _action_to_string(self, player, action):
        return str(action)

    def is_terminal(self):
        return self.place.is_terminal()

    def returns(self):
        return list(self.place.returns())

    def information_state_string(self, player=None):
        player = self.place.player if player is None else player
        return f"{player}{self.place.nodes[player]}"

    def __str__(self):
        return "/".join(self.place.nodes)
