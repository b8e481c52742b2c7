import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import type { CliParts } from '../cli-parts.ts'
import { EXIT } from '../exit-codes.ts'
import { CliFailure } from '../fail.ts'
import { printable } from '../output.ts'
import { printLine, type LogLine, type LogOptions } from './log-line.ts'

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal']
const EVERY_MS = 500
const PIECE_BYTES = 64 * 1024
/** Of the end of the file, where the last lines are looked for. */
const TAIL_BYTES = 8 * 1024 * 1024

/** The log file of a server on this machine. @throws CliFailure `notFound` when there is none */
export async function showServerLog(parts: CliParts, options: LogOptions): Promise<void> {
  const file = parts.connection.directory?.serverLog
  if (file === undefined || statSync(file, { throwIfNoEntry: false }) === undefined) {
    throw new CliFailure(
      EXIT.notFound,
      `There is no log file${file === undefined ? '' : ` ${file}`}: a server that logs to standard output has its log with its service manager, or see \`docker compose logs\`.`,
    )
  }
  const reader = new LogReader(file)
  const wanted = (text: string): boolean => isAtLeast(text, options.level)
  const last = reader.read().filter(wanted)
  for (const text of options.lines === 0 ? [] : last.slice(-options.lines)) show(parts, text)
  while (options.follow) {
    await delay(EVERY_MS, undefined, { signal: parts.signal })
    for (const text of reader.read().filter(wanted)) show(parts, text)
  }
}

/** Reads what was added to a file, also after it was replaced by a new one. */
class LogReader {
  readonly #file: string
  #inode: number | undefined
  #position = 0
  #rest = Buffer.alloc(0)

  constructor(file: string) {
    this.#file = file
  }

  /** The lines since the last call; at first those at the end of the file. */
  read(): string[] {
    const descriptor = this.#open()
    if (descriptor === undefined) return []
    try {
      const { ino, size } = fstatSync(descriptor)
      if (ino !== this.#inode || size < this.#position) {
        this.#position = this.#inode === undefined ? Math.max(0, size - TAIL_BYTES) : 0
        this.#rest = Buffer.alloc(0)
        this.#inode = ino
      }
      const lines: string[] = []
      const piece = Buffer.alloc(PIECE_BYTES)
      for (let read = 1; read > 0;) {
        read = readSync(descriptor, piece, 0, piece.length, this.#position)
        this.#position += read
        lines.push(...this.#cut(piece.subarray(0, read)))
      }
      return lines
    } finally {
      closeSync(descriptor)
    }
  }

  /** Undefined between the end of a file and the beginning of the next. */
  #open(): number | undefined {
    try {
      return openSync(this.#file, 'r')
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw err
    }
  }

  #cut(piece: Uint8Array): string[] {
    const bytes = Buffer.concat([this.#rest, piece])
    const end = bytes.lastIndexOf('\n') + 1
    this.#rest = Buffer.from(bytes.subarray(end))
    return end === 0
      ? []
      : bytes
          .toString('utf8', 0, end - 1)
          .split('\n')
          .filter((line) => line !== '')
  }
}

function show({ output }: CliParts, text: string): void {
  const line = parse(text)
  if (output.isJson) output.line(text)
  else if (line === undefined) output.line(printable(text))
  else printLine(output, line)
}

function isAtLeast(text: string, level: string | undefined): boolean {
  return level === undefined || LEVELS.indexOf(parse(text)?.level ?? 'fatal') >= LEVELS.indexOf(level)
}

/** Undefined for what is no line of JSON of ours. */
function parse(text: string): LogLine | undefined {
  try {
    const { time, level, msg, name: _name, ...fields } = JSON.parse(text) as Record<string, unknown>
    if (typeof level !== 'string') return undefined
    return { timestamp: String(time), level, message: typeof msg === 'string' ? msg : '', fields }
  } catch {
    return undefined
  }
}
