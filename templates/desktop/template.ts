import { Template } from 'e2b'

/** What the client `@e2b/desktop` runs by name (clients.md 1.11). */
const FOR_THE_CLIENT = [
  'libgtk-3-bin',
  'net-tools',
  'novnc',
  'procps',
  'scrot',
  'websockify',
  'x11-utils',
  'x11-xserver-utils',
  'x11vnc',
  'xdg-utils',
  'xdotool',
  'xvfb',
]

const DESKTOP = [
  'adwaita-icon-theme',
  'at-spi2-core',
  'dbus-x11',
  'fonts-dejavu-core',
  'fonts-noto-color-emoji',
  'librsvg2-common',
  'xfce4',
  'xfce4-terminal',
]

const PROGRAMS = ['ffmpeg', 'firefox-esr', 'mousepad', 'ristretto', 'xfce4-screenshooter']

/** A desktop of Debian. It has no start command: the client starts the screen and the session itself. */
export const template = Template()
  .fromTemplate('base')
  .aptInstall([...FOR_THE_CLIENT, ...DESKTOP, ...PROGRAMS], { noInstallRecommends: true })
  // Where the client looks for noVNC.
  .runCmd('ln -s /usr/share/novnc /opt/noVNC', { user: 'root' })
  // Shadows and translucent windows only cost time on a screen in memory.
  .copy('xfwm4.xml', '/etc/xdg/xfce4/xfconf/xfce-perchannel-xml/xfwm4.xml', { user: 'root' })
  // No pages of its own at the first start of the browser.
  .copy('policies.json', '/etc/firefox/policies/policies.json', { user: 'root' })
  // Without it xdotool types ASCII only.
  .setEnvs({ LANG: 'C.UTF-8' })
