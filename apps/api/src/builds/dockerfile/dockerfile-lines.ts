import { dockerfileError } from './dockerfile-error.ts'

/** An instruction on one line, its continuations joined. */
export interface InstructionLine {
  /** Of its first line in the text, from 1. */
  readonly line: number
  readonly text: string
}

export interface DockerfileLines {
  /** The same Dockerfile without comments and blank lines. */
  readonly text: string
  readonly instructions: readonly InstructionLine[]
  /** What continues a line: `\` or a backtick. */
  readonly escape: string
}

/** Where the engine's parser stops. */
const MAX_LINE_BYTES = 65_535

const DIRECTIVE = /^#\s*(escape|syntax|check)\s*=\s*(.+?)\s*$/i

/**
 * Takes a Dockerfile apart into instructions. Engines of different age disagree on comments within continued lines and on lines that
 * end in several escape characters: the text that comes back has no comments, and the latter are refused, so that every engine
 * finds exactly these instructions in it.
 *
 * @throws AppError `invalid_argument`, which names the line
 */
export function readDockerfileLines(source: string): DockerfileLines {
  const lines = source.replace(/^\uFEFF/, '').split('\n')
  const { escape, end } = readDirectives(lines)
  const continued = escape === '\\' ? /\\[ \t]*$/ : /`[ \t]*$/
  const kept = escape === '\\' ? [] : [`# escape=${escape}`]
  const instructions: InstructionLine[] = []
  let open: { readonly line: number; text: string } | undefined
  for (const [index, raw] of lines.entries()) {
    const content = raw.replace(/\r$/, '').trimStart()
    if (index < end || content === '' || content.startsWith('#')) continue
    checkLine(content, escape, index + 1)
    const physical = open === undefined ? content : raw.replace(/\r$/, '')
    const part = physical.replace(continued, '')
    open ??= { line: index + 1, text: '' }
    open.text += part
    kept.push(part === physical ? physical : `${part}${escape}`)
    if (part !== physical) continue
    instructions.push(open)
    open = undefined
  }
  if (open !== undefined) {
    instructions.push(open)
    kept.push((kept.pop() ?? '').slice(0, -escape.length))
  }
  return { text: `${kept.join('\n')}\n`, instructions, escape }
}

/** Directives stand before everything else, blank lines and other comments included. */
function readDirectives(lines: readonly string[]): { escape: string; end: number } {
  let escape = '\\'
  let end = 0
  for (const [index, line] of lines.entries()) {
    const [, name, value = ''] = DIRECTIVE.exec(line.replace(/\r$/, '').trimStart()) ?? []
    if (name === undefined) break
    end = index + 1
    if (name.toLowerCase() === 'syntax') {
      throw dockerfileError('a syntax directive asks for BuildKit, and this server builds without it: leave it out', end)
    }
    if (name.toLowerCase() !== 'escape') continue
    if (value !== '\\' && value !== '`') throw dockerfileError('the escape directive must be \\ or `', end)
    escape = value
  }
  return { escape, end }
}

function checkLine(content: string, escape: string, line: number): void {
  if (/[\r\v\f]/.test(content)) throw dockerfileError('there is a control character in it', line)
  if (Buffer.byteLength(content) > MAX_LINE_BYTES) throw dockerfileError(`the line is longer than ${MAX_LINE_BYTES} bytes`, line)
  if (content.replace(/[ \t]+$/, '').endsWith(escape + escape)) {
    throw dockerfileError(`it ends in several ${escape}, of which engines make different things`, line)
  }
}
