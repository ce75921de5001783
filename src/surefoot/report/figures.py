"""The charts under the name that they had up to version 0.2; `surefoot.report.charts` is their place."""

from surefoot.report.charts import *  # noqa: F403
from surefoot.report.charts import save_chart as save_figure  # noqa: F401
from surefoot.report.charts import write_charts as write_figures  # noqa: F401
