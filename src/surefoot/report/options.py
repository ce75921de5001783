"""The defaults of assessments, their page and their figures.

It imports nothing, so that the command line can show all of it before anything is loaded.
"""

ALPHAS = (0, 1, 5, 10)  # weights of losses
PANEL_ALPHAS = (0, 5, 10, 15)  # where each query's T_J is drawn (Dinçer et al., SIGIR 2014, Fig. 2)
DETAILED_QUERIES = 500  # most hurt and most helped queries of each system that have their results on the page
CHART_FORMATS = ("pdf", "svg", "png")  # of figures, and all there are
BY_TRAFFIC = "by-traffic"  # in place of a file of segments: head, torso and tail by how often queries are asked
