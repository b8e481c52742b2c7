import { addArguments } from './expand-arguments.ts'
import { ExpansionBound } from './expansion-bound.ts'
import { continuation, logicalLines, type LogicalLine } from './logical-lines.ts'
import { rewriteCopy, rewriteFrom, type BaseImage, type RewriteState } from './rewrite-sources.ts'
import { refused } from './refused.ts'

export interface RewriteOptions {
  /** Finds the image of a reference, or pulls it. */
  readonly resolve: (reference: string) => Promise<BaseImage>
  /** Labels for all images that the builder creates, so that each of them has an owner. */
  readonly labels: Readonly<Record<string, string>>
}

export interface RewrittenDockerfile {
  readonly text: string
  /** What to show for each step of the builder, in its order; undefined for a step that the user did not write. */
  readonly shown: readonly (string | undefined)[]
}

/** A little less than the limit of the engine's parser. */
const MAX_LINE_CHARS = 60_000

/** The triggers that fetch nothing from outside of the sandbox. */
const PLAIN_TRIGGER = /^(?:ARG|CMD|ENTRYPOINT|ENV|EXPOSE|HEALTHCHECK|LABEL|RUN|SHELL|STOPSIGNAL|USER|VOLUME|WORKDIR)[ \t][^\r\n]*$/i

/** The engine runs triggers as they are written, so their paths must mean the same to it and to this server. */
const COMPUTED_WORKDIR = /^WORKDIR\b.*[$"'\\`]/i

/**
 * Rewrites a Dockerfile: one line for each instruction, and images by their id, working directories as absolute paths outside of the
 * trees of the kernel. The engine would resolve the names in FROM and
 * COPY --from by itself: as a prefix of the id of any image on it, or at a registry. ADD and triggers that fetch are refused, because
 * the engine fetches outside of the egress rules. The engine reads only the rewritten text, so a difference between its parser and this
 * one is harmless.
 *
 * @throws AppError `failed_precondition` that names the instruction; whatever `resolve` throws
 */
export async function rewriteDockerfile(dockerfile: string, { resolve, labels }: RewriteOptions): Promise<RewrittenDockerfile> {
  const { escape, lines } = logicalLines(dockerfile)
  const state: RewriteState = {
    resolve,
    escape,
    bound: new ExpansionBound(),
    arguments: new Map(),
    stages: new Map(),
    currentStage: undefined,
    context: undefined,
  }
  const text: string[] = escape === '`' ? ['# escape=`'] : []
  const shown: (string | undefined)[] = []
  for (const line of lines) {
    const written = await rewriteLine(line, state)
    if (written.length > MAX_LINE_CHARS) throw refused(written, 'the instruction is too long')
    if (continuation(escape).test(written)) throw refused(written, 'the instruction ends with a line continuation')
    text.push(written)
    shown.push(`${line.instruction} ${line.rest}`.trim())
    if (line.instruction !== 'FROM') continue
    text.push(labelLine(labels))
    shown.push(undefined)
  }
  return { text: `${text.join('\n')}\n`, shown }
}

async function rewriteLine(line: LogicalLine, state: RewriteState): Promise<string> {
  const { instruction, rest } = line
  const plain = `${instruction} ${rest}`
  if (!/^[A-Z]+$/.test(instruction)) throw refused(plain, 'unknown instruction')
  state.bound.add(instruction, rest)
  switch (instruction) {
    case 'FROM':
      return rewriteFrom(rest, state)
    case 'COPY':
      return rewriteCopy(rest, state)
    case 'ADD':
      throw refused(plain, 'there is no build context; use RUN with curl or wget for files on the network')
    case 'ONBUILD':
      checkTrigger(rest)
      return plain
    case 'ARG':
      if (state.context === undefined) addArguments(state.arguments, rest)
      else state.context.setArgs(rest, state.escape, state.arguments)
      return plain
    case 'ENV':
      state.context?.setEnv(rest, state.escape)
      return plain
    case 'WORKDIR':
      // Before the first FROM the engine refuses it.
      return state.context === undefined ? plain : `WORKDIR ${state.context.enter(rest, state.escape)}`
    default:
      return plain
  }
}

/**
 * Checks a trigger: it runs in every build from the image that contains it.
 *
 * @throws AppError `failed_precondition` for a trigger that may fetch something
 */
export function checkTrigger(trigger: string): void {
  if (!PLAIN_TRIGGER.test(trigger)) throw refused(`ONBUILD ${trigger}`, 'a trigger cannot copy files into the image')
  if (COMPUTED_WORKDIR.test(trigger))
    throw refused(`ONBUILD ${trigger}`, 'the WORKDIR of a trigger cannot have variables, quotes or escapes')
}

function labelLine(labels: RewriteOptions['labels']): string {
  return ['LABEL', ...Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)].join(' ')
}
