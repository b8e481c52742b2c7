"""A desktop that a program uses: picture, mouse, keys, the stream."""

from e2b_desktop import Sandbox
from steps import finish, same, step

with step("create"):
    desktop = Sandbox.create(timeout=230, resolution=(1024, 768))
try:
    with step("see the size"):
        same(tuple(desktop.get_screen_size()), (1024, 768))
    with step("take a screenshot"):
        picture = bytes(desktop.screenshot())
        same(picture[:4], b"\x89PNG")
        assert len(picture) > 5000, f"the picture has {len(picture)} bytes"
    with step("move the mouse"):
        desktop.move_mouse(200, 300)
        same(tuple(desktop.get_cursor_position()), (200, 300))
    with step("click and type"):
        desktop.left_click(500, 400)
        desktop.write("hello")
        desktop.press("enter")
    with step("stream"):
        desktop.stream.start()
        assert desktop.stream.get_url().startswith("https://6080-"), desktop.stream.get_url()
        desktop.stream.stop()
finally:
    with step("kill"):
        desktop.kill()
finish()
