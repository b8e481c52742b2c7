/** Paths in a square of 16, drawn with the colour of the text. */
const PATHS = {
  overview: 'M2.5 2.5h4.5v6H2.5zM9 2.5h4.5v3.5H9zM9 8h4.5v5.5H9zM2.5 10.500h4.500v3h-4.500z',
  sandboxes: 'M8 1.800l5.5 3v6.400L8 14.200l-5.5-3V4.800zM2.7 4.900L8 7.900l5.3-3M8 7.900v6',
  templates: 'M5 2h8.500v8.500H5zM2.5 5.500V14H11',
  builds: 'M9.5 2.500l4 4-2 2-4-4zM8.5 5.500l-6 6 2 2 6-6',
  volumes:
    'M2.5 4c0-1.2 2.5-2 5.5-2s5.5.8 5.5 2-2.5 2-5.5 2-5.5-.8-5.5-2zM2.5 4v8c0 1.2 2.5 2 5.5 2s5.5-.8 5.5-2V4M2.5 8c0 1.2 2.5 2 5.5 2s5.5-.8 5.5-2',
  secrets: 'M3.5 7h9v6.500h-9zM5.5 7V4.800a2.5 2.5 0 0 1 5 0V7',
  keys: 'M7.8 8.200a3.2 3.2 0 1 1-2-2zM7.5 6.500l6-4.500M11 4l1.8 2',
  webhooks: 'M6 5.500a2.5 2.5 0 1 1 3.2 2.400l2 3.500M4.5 8.500a2.5 2.5 0 1 0 2.5 3h4M11 9a2.5 2.5 0 1 1-1 4.7',
  usage: 'M2.5 13.500h11M4 11V8M7 11V4M10 11V6.500M13 11V3',
  audit: 'M4 2h8v12H4zM6 5h4M6 8h4M6 11h2.5',
  teams:
    'M6 7.500a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zM1.5 13.500c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M10.5 3a2.3 2.3 0 0 1 0 4.300M12 9.800c1.5.6 2.5 1.9 2.5 3.7',
  host: 'M2.5 2.500h11v4.500h-11zM2.5 9h11v4.500h-11zM5 4.800h.01M5 11.300h.01',
  plus: 'M8 3v10M3 8h10',
  search: 'M7 11.500a4.5 4.5 0 1 0 0-9 4.5 4.5 0 0 0 0 9zM10.3 10.300l3.7 3.7',
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.500l3.5 3.500L13 4.5',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  down: 'M4 6l4 4 4-4',
  code: 'M5.5 4.500L2 8l3.5 3.500M10.5 4.500L14 8l-3.5 3.5',
  copy: 'M5.5 5.500h8v8h-8zM10.5 5.500v-3h-8v8h3',
  terminal: 'M2.5 4l4 4-4 4M8 12.500h5.5',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M4.5 2.500l8.5 5.5-8.5 5.500z',
  stop: 'M4 4h8v8H4z',
  trash: 'M2.5 4h11M6 4V2.500h4V4M4 4l.7 9.500h6.600L12 4',
  clock: 'M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.500V8l2.5 1.5',
  refresh: 'M13 8a5 5 0 1 1-1.5-3.500L13 6M13 2.500V6H9.5',
  filter: 'M2 3h12L9.5 8.500V13l-3-1.500v-3z',
  columns: 'M2.5 2.500h11v11h-11zM6.2 2.500v11M9.9 2.500v11',
  download: 'M8 2v8.500M4.5 7L8 10.5 11.5 7M2.5 13.500h11',
  upload: 'M8 11V2.500M4.5 6L8 2.5 11.5 6M2.5 13.500h11',
  file: 'M4 1.800h5l3 3v9.400H4zM9 1.800v3h3',
  folder: 'M1.8 3.500h4.500l1.5 2h6.400v7.500H1.800z',
  external: 'M9 2.500h4.500V7M13.5 2.500L7.5 8.500M11.5 9.500v4h-9v-9h4',
  sun: 'M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1v1.500M8 13.500V15M1 8h1.500M13.5 8H15M3 3l1 1M12 12l1 1M3 13l1-1M12 4l1-1',
  moon: 'M13.5 9.500A6 6 0 0 1 6.5 2.500a6 6 0 1 0 7 7z',
  system: 'M2 3h12v8H2zM6 14h4M8 11v3',
  exit: 'M6.5 2.500h-4v11h4M10 4.500L13.5 8 10 11.500M13.5 8H6',
  warning: 'M8 2l6.5 11.500h-13zM8 6.500v3.500M8 12h.01',
  fork: 'M4 5.500v5M4 5.500a1.7 1.7 0 1 0 0-3.5 1.7 1.7 0 0 0 0 3.500zM4 14a1.7 1.7 0 1 0 0-3.500A1.7 1.7 0 0 0 4 14zM12 5.500a1.7 1.7 0 1 0 0-3.5 1.7 1.7 0 0 0 0 3.500zM12 5.500c0 3-8 1.5-8 5',
  camera: 'M2 5h3l1-1.500h4L11 5h3v8H2zM8 11a2.2 2.2 0 1 0 0-4.400A2.2 2.2 0 0 0 8 11z',
  edit: 'M2.5 13.500l.6-3L10.5 3l2.5 2.5-7.5 7.500z',
} as const

export type IconName = keyof typeof PATHS

/** Decoration: the button around it has the words. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
