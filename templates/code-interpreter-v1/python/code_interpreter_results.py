"""An extension of IPython: what clients of the code interpreter read of a result beside its text and pictures. exit() ends a cell, as sys.exit() does.

Lists and dicts come as JSON too, figures of matplotlib with the data of their charts, and frames of pandas with their columns. Nothing is
imported before there is such an object, so that kernels start fast.
"""

import warnings

from IPython.core.formatters import BaseFormatter, JSONFormatter
from traitlets import ObjectName, Unicode

# Larger values would slow down every cell that ends with one; they have their text.
MAX_JSON_ITEMS = 100_000
MAX_FRAME_CELLS = 1_000_000


def _is(obj, module, name):
    return any(kind.__module__ == module and kind.__name__ == name for kind in type(obj).__mro__)


class ChartFormatter(BaseFormatter):
    """The chart of a figure, as the types of the clients have it."""

    format_type = Unicode("e2b/chart")
    print_method = ObjectName("_repr_e2b_chart_")
    _return_type = (dict, str)

    def __call__(self, obj):
        if not _is(obj, "matplotlib.figure", "Figure"):
            return super().__call__(obj)
        try:
            with warnings.catch_warnings():
                # Of what e2b-charts does, not of what the cell did.
                warnings.simplefilter("ignore")
                return _chart(obj)
        except Exception:
            # The picture is there all the same.
            return {}


def _chart(figure):
    from code_interpreter_boxes import box_plot_chart
    from e2b_charts import chart_figure_to_dict
    from e2b_charts.main import get_chart_from_ax

    axes = figure.get_axes()
    box_plots = [box_plot_chart(ax) for ax in axes]
    if not any(box_plots):
        return chart_figure_to_dict(figure)
    if len(axes) == 1:
        return box_plots[0]
    elements = [chart or get_chart_from_ax(ax).model_dump() for ax, chart in zip(axes, box_plots)]
    return {"type": "superchart", "title": figure.get_suptitle(), "elements": elements}


class DataFormatter(BaseFormatter):
    """The columns of a frame, each with its values."""

    format_type = Unicode("e2b/data")
    print_method = ObjectName("_repr_e2b_data_")
    _return_type = (dict, str)

    def __call__(self, obj):
        if not _is(obj, "pandas", "DataFrame") and not _is(obj, "pandas.core.frame", "DataFrame"):
            return super().__call__(obj)
        if obj.size > MAX_FRAME_CELLS:
            return None
        try:
            # By position, because names may be there more than once: the last of them counts.
            return {str(name): [_plain(value) for value in obj.iloc[:, at].tolist()] for at, name in enumerate(obj.columns)}
        except Exception:
            # The text and the table are there all the same.
            return None


def _plain(value):
    """What JSON has no form for becomes text, and what is no value becomes null."""
    if value is None or isinstance(value, (bool, str, int)):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else None
    if hasattr(value, "isoformat"):
        text = value.isoformat()
        return None if text == "NaT" else text
    if getattr(value, "ndim", None) == 0:
        return _plain(value.item())
    return None if type(value).__name__ == "NAType" else str(value)


class ListAndDictFormatter(JSONFormatter):
    """Lists and dicts that are JSON, beside objects that have such a form."""

    def __call__(self, obj):
        if not isinstance(obj, (list, dict)) or _count_items(obj) > MAX_JSON_ITEMS:
            return super().__call__(obj)
        import orjson

        try:
            text = orjson.dumps(obj, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS)
        except (TypeError, ValueError, RecursionError):
            return super().__call__(obj)
        return orjson.loads(text), {"expanded": True}


def _count_items(obj):
    """The number of items at all depths, or some number beyond MAX_JSON_ITEMS. A text is one more for each 1,000 characters."""
    count, left = 0, [obj]
    while left and count <= MAX_JSON_ITEMS:
        value = left.pop()
        count += 1
        if value is None or isinstance(value, (int, float)):
            continue
        if isinstance(value, str):
            count += len(value) // 1000
        elif isinstance(value, (list, tuple, dict)):
            if len(value) > MAX_JSON_ITEMS:
                return len(value)
            left.extend(value.values() if isinstance(value, dict) else value)
        elif _is(value, "numpy", "ndarray"):
            count += value.size
    return count


def _exit():
    raise SystemExit


def load_ipython_extension(shell):
    # Otherwise exit() ends the kernel a moment later, and with it a cell that comes after.
    shell.ask_exit = _exit
    formatter = shell.display_formatter
    for kind in (ChartFormatter, DataFormatter, ListAndDictFormatter):
        made = kind(parent=formatter)
        formatter.formatters[made.format_type] = made
