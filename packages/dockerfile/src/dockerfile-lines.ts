import { AppError } from '@sandyard/kit/errors/app-error'

/** An instruction on one line, its continuations joined. */
export interface InstructionLine {
  /** Of its first line in the text, from 1. */
  readonly line: number
  readonly text: string
}

export interface DockerfileLines {
  readonly instructions: readonly InstructionLine[]
  /** What continues a line. */
  readonly escape: '\\' | '`'
}

const MAX_LINES = 10_000

/** Why a Dockerfile cannot be built here, with the line where there is one. */
export function dockerfileError(problem: string, line?: number): AppError {
  return new AppError('invalid_argument', line === undefined ? `Dockerfile: ${problem}` : `Dockerfile line ${line}: ${problem}`)
}

/** A value without spaces around it, by `trim`: a pattern that skips them at both ends takes quadratic time. */
const DIRECTIVE = /^#\s*(escape|syntax|check)\s*=(.*)/i

/**
 * Splits a Dockerfile into instructions by the rules of the runtime that builds it: comments and blank lines do not count, also within a
 * continued line, and a doubled escape character at the end of a line does not continue it.
 *
 * @throws AppError `invalid_argument` for too many lines, and for directives that ask for another builder, with the line
 */
export function readDockerfileLines(source: string): DockerfileLines {
  const lines = source.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines.length > MAX_LINES) throw dockerfileError(`it has more than ${MAX_LINES} lines`)
  const escape = readDirectives(lines)
  const continued = escape === '`' ? /(^|[^`])`[ \t]*$/ : /(^|[^\\])\\[ \t]*$/
  const instructions: InstructionLine[] = []
  let open: { readonly line: number; text: string } | undefined
  for (const [index, physical] of lines.entries()) {
    if (physical.trim() === '' || physical.trimStart().startsWith('#')) continue
    open ??= { line: index + 1, text: '' }
    open.text += physical.replace(continued, '$1')
    if (continued.test(physical)) continue
    instructions.push({ line: open.line, text: open.text.trim() })
    open = undefined
  }
  if (open !== undefined) instructions.push({ line: open.line, text: open.text.trim() })
  return { instructions, escape }
}

/** The common first line of a Dockerfile. What that syntax has beyond the classic builder's is refused where it is used. */
const STANDARD_SYNTAX = /^(?:docker\.io\/)?docker\/dockerfile(?::(?:1(?:\.\d+){0,2}|latest))?$/

/** Directives stand before everything else, blank lines and other comments included. */
function readDirectives(lines: readonly string[]): DockerfileLines['escape'] {
  let escape: DockerfileLines['escape'] = '\\'
  for (const [index, line] of lines.entries()) {
    const [, name, text = ''] = DIRECTIVE.exec(line.trimStart()) ?? []
    const value = text.trim()
    if (name === undefined || value === '') break
    if (name.toLowerCase() === 'syntax' && !STANDARD_SYNTAX.test(value)) {
      throw dockerfileError('this syntax directive asks for a frontend of BuildKit, and builds here are without it', index + 1)
    }
    if (name.toLowerCase() !== 'escape') continue
    if (value !== '\\' && value !== '`') throw dockerfileError('the escape directive must be \\ or `', index + 1)
    escape = value
  }
  return escape
}
