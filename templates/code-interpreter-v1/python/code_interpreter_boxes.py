"""Reads box plots from what matplotlib has drawn: e2b-charts takes their lines for a line chart, or fails.

`Axes.bxp` draws each box plot in one order: the box (a line, or a patch with `patch_artist=True`), two whiskers from the box outwards, two caps,
the median, the mean and the outliers. Caps, mean and outliers may be absent. pandas and seaborn draw by it too.
"""

from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch, Rectangle

# Corners of a box as a line or a path, without and with notches.
BOX_CORNERS = (5, 6, 11, 12)


def box_plot_chart(ax):
    """The chart of axes with nothing but box plots, as the types of the clients have it, or None."""
    from e2b_charts.charts.base import Chart2D, ChartType

    if ax.collections or ax.images:
        return None
    drawn = {*ax.lines, *ax.patches}
    # In the order of drawing.
    boxes = _read_boxes([artist for artist in ax.get_children() if artist in drawn])
    if not boxes:
        return None
    chart = Chart2D(ax=ax, type=ChartType.BOX_AND_WHISKER)
    is_vertical = boxes[0]["is_vertical"]
    if not is_vertical:
        # As for horizontal bars: the values are on y.
        chart._change_orientation()
    ticks = _ticks(ax.xaxis if is_vertical else ax.yaxis)
    chart.elements = [{"label": _label(box["at"], ticks), **box["data"]} for box in boxes if box["data"] is not None]
    return chart.model_dump()


def _read_boxes(artists):
    """The box plots; none when something else was drawn too."""
    boxes, at = [], 0
    while at < len(artists):
        if _is_box(artists[at]):
            lines = []
            at += 1
            while at < len(artists) and isinstance(artists[at], Line2D) and not _is_box(artists[at]):
                lines.append(artists[at])
                at += 1
            box = _read_box(lines)
            if box is None:
                return []
            boxes.append(box)
        elif isinstance(artists[at], Line2D):
            # Drawn before the boxes.
            at += 1
        elif isinstance(artists[at], Rectangle) and artists[at].get_width() == artists[at].get_height() == 0:
            # seaborn's, for its legend.
            at += 1
        else:
            return []
    return boxes


def _is_box(artist):
    if isinstance(artist, PathPatch):
        return len(artist.get_path().vertices) in BOX_CORNERS
    if not isinstance(artist, Line2D) or len(artist.get_xdata()) not in BOX_CORNERS:
        return False
    x, y = artist.get_xdata(), artist.get_ydata()
    return artist.get_linestyle() != "None" and _is_same(x[0], x[-1]) and _is_same(y[0], y[-1])


def _is_same(first, second):
    """Where there are no values, no corner is a number."""
    return first == second or (first != first and second != second)


def _read_box(lines):
    segments = []
    for line in lines:
        if len(line.get_xdata()) != 2 or line.get_linestyle() == "None":
            break
        segments.append(line)
    points = [line for line in lines[len(segments) :] if line.get_linestyle() == "None"]
    if len(segments) < 3:
        return None
    lower, upper, *rest = segments
    median = rest[2] if len(rest) > 2 else rest[0]
    left, right = median.get_xdata()
    # The median of no values is no number.
    is_vertical = left == left and left != right

    def values(line):
        return [float(value) for value in (line.get_ydata() if is_vertical else line.get_xdata())]

    def place(line):
        return float((line.get_xdata() if is_vertical else line.get_ydata())[0])

    if place(lower) != place(upper):
        return None
    (first_quartile, least), (third_quartile, most), middle = values(lower), values(upper), values(median)[0]
    data = None
    # Nothing of a box plot without values is a number.
    if middle == middle:
        outliers = [value for line in _without_mean(points) for value in values(line)]
        data = {
            "min": least,
            "first_quartile": first_quartile,
            "median": middle,
            "third_quartile": third_quartile,
            "max": most,
            "outliers": outliers,
        }
    return {"is_vertical": is_vertical, "at": place(lower), "data": data}


def _without_mean(points):
    """The mean is a point before the outliers, and alone where these are not shown."""
    from matplotlib import rcParams

    if len(points) == 1 and points[0].get_marker() == rcParams["boxplot.meanprops.marker"] != rcParams["boxplot.flierprops.marker"]:
        return []
    return points[-1:]


def _ticks(axis):
    return list(zip(axis.get_ticklocs(), [label.get_text() for label in axis.get_ticklabels()]))


def _label(at, ticks):
    """That of the nearest tick: several boxes may stand around one."""
    return min(ticks, key=lambda tick: abs(tick[0] - at))[1] if ticks else ""
