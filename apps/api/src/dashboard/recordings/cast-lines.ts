export interface CastHeader {
  readonly cols: number
  readonly rows: number
  readonly startedAt: Date
  readonly title: string
}

/** The first line of an asciicast v2. */
export function castHeader({ cols, rows, startedAt, title }: CastHeader): Buffer {
  const timestamp = Math.floor(startedAt.getTime() / 1000)
  return toLine({ version: 2, width: cols, height: rows, timestamp, title, env: { TERM: 'xterm-256color', SHELL: '/bin/bash' } })
}

/** Output, or a size as `COLSxROWS`, at a time in seconds from the start. */
export function castEvent(atS: number, code: 'o' | 'r', data: string): Buffer {
  return toLine([Math.round(atS * 1e6) / 1e6, code, data])
}

function toLine(value: unknown): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`)
}
