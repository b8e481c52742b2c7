import { stripVTControlCharacters } from 'node:util'

export type Cell = string | number | undefined

/** Data goes to stdout, words go to stderr. With `--json` data is one JSON document, or one for each line of a stream. */
export class Output {
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  #isJson = false

  constructor(stdout: NodeJS.WriteStream, stderr: NodeJS.WriteStream) {
    this.stdout = stdout
    this.stderr = stderr
  }

  get isJson(): boolean {
    return this.#isJson
  }

  useJson(isJson: boolean): void {
    this.#isJson = isJson
  }

  /** Words for a person, on stderr. They may contain texts of others: paths of a sandbox, answers of its daemon. */
  say(text: string): void {
    this.stderr.write(`${text.split('\n').map(printable).join('\n')}\n`)
  }

  /** A line of data. */
  line(text: string): void {
    this.stdout.write(`${text}\n`)
  }

  /** The whole answer of a command: `value` as one JSON document with `--json`, else what `show` prints. */
  result(value: unknown, show: () => void): void {
    if (this.#isJson) this.line(JSON.stringify(value, undefined, 2))
    else show()
  }

  /** One item of a stream: a line of JSON with `--json`, else what `show` prints. */
  item(value: unknown, show: () => void): void {
    if (this.#isJson) this.line(JSON.stringify(value))
    else show()
  }

  /** Columns with a head. Without rows it prints nothing on stdout. */
  table(head: readonly string[], rows: readonly (readonly Cell[])[]): void {
    if (rows.length > 0) this.stdout.write(formatTable([head, ...rows]))
  }

  /** Names and values, one pair a line; pairs without a value are left out. */
  pairs(pairs: readonly (readonly [string, Cell])[]): void {
    const known = pairs.filter(([, value]) => value !== undefined)
    if (known.length > 0) this.stdout.write(formatTable(known))
  }
}

/** Columns of equal width, two spaces apart. Cells come from others, so they keep neither control characters nor line breaks. */
function formatTable(rows: readonly (readonly Cell[])[]): string {
  const cells = rows.map((row) => row.map((cell) => (cell === undefined ? '-' : printable(String(cell)))))
  const widths: number[] = []
  for (const row of cells) row.forEach((cell, column) => (widths[column] = Math.max(widths[column] ?? 0, cell.length)))
  return cells
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

/** Text of others for a terminal: without escape sequences and control characters. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is removed
  return stripVTControlCharacters(text).replaceAll(/[\u0000-\u001F\u007F-\u009F]+/g, ' ')
}
