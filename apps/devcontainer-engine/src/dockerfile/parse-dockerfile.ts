import { dockerfileError, readDockerfileLines } from '@sandyard/dockerfile/dockerfile-lines'
import { hasHereDocument } from '@sandyard/dockerfile/here-document'
import { AppError } from '@sandyard/kit/errors/app-error'

export interface Instruction {
  /** Line of the file where it starts, from 1. */
  readonly line: number
  readonly keyword: string
  /** `--from=...` and the like, without dashes. */
  readonly flags: ReadonlyMap<string, string>
  readonly text: string
}

const MAX_BYTES = 1024 * 1024

/** What the Dockerfiles of the CLI consist of, and what most others do. Every other instruction is refused with its line. */
const KEYWORDS: ReadonlySet<string> = new Set([
  'ARG',
  'CMD',
  'COPY',
  'ENTRYPOINT',
  'ENV',
  'EXPOSE',
  'FROM',
  'LABEL',
  'RUN',
  'SHELL',
  'USER',
  'WORKDIR',
])
const FLAGS: Readonly<Record<string, readonly string[]>> = { COPY: ['from', 'chown', 'chmod'], FROM: ['platform'] }

export function refuseLine(line: number, reason: string): AppError {
  return new AppError('unimplemented', `Dockerfile line ${line}: ${reason}`)
}

/** @throws AppError that names the line */
export function parseDockerfile(source: string): Instruction[] {
  if (Buffer.byteLength(source) > MAX_BYTES) throw new AppError('resource_exhausted', 'The Dockerfile is larger than 1 MiB')
  const { instructions, escape } = readDockerfileLines(source)
  if (escape !== '\\') throw dockerfileError(`the escape character ${escape} is not supported`)
  return instructions.map(({ line, text }) => toInstruction(text, line))
}

function toInstruction(text: string, line: number): Instruction {
  const [, word = '', rest = ''] = /^(\S+)\s*([\s\S]*)$/.exec(text) ?? []
  const keyword = word.toUpperCase()
  if (!KEYWORDS.has(keyword)) throw refuseLine(line, `the instruction ${keyword} is not supported`)
  const flags = new Map<string, string>()
  let remaining = rest
  for (;;) {
    const [whole, name = '', flagText = ''] = /^--([a-z-]+)(?:=(\S*))?\s*/.exec(remaining) ?? []
    if (whole === undefined) break
    if (!FLAGS[keyword]?.includes(name)) throw refuseLine(line, `${keyword} --${name} is not supported`)
    flags.set(name, flagText)
    remaining = remaining.slice(whole.length)
  }
  if (['RUN', 'COPY'].includes(keyword) && hasHereDocument(remaining))
    throw refuseLine(line, 'documents in the Dockerfile (<<EOF) are not supported')
  if (remaining === '') throw refuseLine(line, `${keyword} needs an argument`)
  return { line, keyword, flags, text: remaining }
}

/** For a line of the log: the CLI puts lines before those of the user, so a number alone says little. */
export function headOf({ keyword, text }: Instruction): string {
  return `${keyword} ${text.slice(0, 200)}`
}

/** The JSON form `["a", "b"]` of RUN, CMD, ENTRYPOINT, SHELL and COPY; undefined for the other form. */
export function parseList(text: string): string[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) && list.every((word) => typeof word === 'string') ? list : undefined
  } catch {
    return undefined
  }
}
