"""`surefoot judge`: people's and machines' judgments: which to ask for next, and what an automatic judge is worth."""

from __future__ import annotations

from surefoot.cli.bar import with_bar
from surefoot.cli.help_screen import HelpfulCommand, helpful_group
from surefoot.cli.judge_agreement import judge_agreement
from surefoot.cli.judge_next import judge_next
from surefoot.cli.shared_options import with_common_options

judge = helpful_group("judge", "Say what to judge next, and what an automatic judge is worth.")
judge.command("next", cls=HelpfulCommand)(with_common_options(with_bar(judge_next)))
judge.command("agreement", cls=HelpfulCommand)(with_common_options(with_bar(judge_agreement)))
