/** One instruction, with its continuation lines joined. */
export interface LogicalLine {
  /** Upper case. */
  readonly instruction: string
  /** Includes the flags. */
  readonly rest: string
}

export interface DockerfileLines {
  readonly escape: '\\' | '`'
  readonly lines: readonly LogicalLine[]
}

const COMMENT = /^\s*#/
/** The value includes the spaces around it: a pattern that skips spaces at both ends takes quadratic time. */
const DIRECTIVE = /^#\s*([a-zA-Z][a-zA-Z0-9]*)\s*=(.*)/

/**
 * Splits a Dockerfile into instructions as the engine does: directives are at the beginning, comments and empty lines inside
 * an instruction are dropped, and a doubled escape at the end of a line is no continuation.
 */
export function logicalLines(dockerfile: string): DockerfileLines {
  const physical = dockerfile.replace(/^\uFEFF/, '').split(/\r?\n/)
  const escape = escapeOf(physical)
  const continued = continuation(escape)
  const lines: LogicalLine[] = []
  let open = ''
  for (const line of physical) {
    if (COMMENT.test(line) || line.trim() === '') continue
    const isContinued = continued.test(line)
    open += isContinued ? line.replace(continued, '$1') : line
    if (isContinued) continue
    pushLine(lines, open)
    open = ''
  }
  pushLine(lines, open)
  return { escape, lines }
}

/** Matches the end of a line that continues in the next one. */
export function continuation(escape: DockerfileLines['escape']): RegExp {
  return escape === '`' ? /(^|[^`])`[ \t]*$/ : /(^|[^\\])\\[ \t]*$/
}

function pushLine(lines: LogicalLine[], text: string): void {
  const [, instruction = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(text.trim()) ?? []
  if (instruction !== '') lines.push({ instruction: instruction.toUpperCase(), rest })
}

function escapeOf(physical: readonly string[]): DockerfileLines['escape'] {
  for (const line of physical) {
    const [, name, value = ''] = DIRECTIVE.exec(line) ?? []
    if (name === undefined || value.trim() === '') break
    if (name.toLowerCase() === 'escape') return value.trim() === '`' ? '`' : '\\'
  }
  return '\\'
}
