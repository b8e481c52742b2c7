import { addArguments } from './expand-arguments.ts'
import { ExpansionBound } from './expansion-bound.ts'
import { continuation, logicalLines, type LogicalLine } from './logical-lines.ts'
import { rewriteCopy, rewriteFrom, type BaseImage, type RewriteState } from './rewrite-sources.ts'
import { refused } from './refused.ts'

export interface RewriteOptions {
  /** Finds or brings the image that a reference means. */
  readonly resolve: (reference: string) => Promise<BaseImage>
  /** Labels for all images that the builder makes, so that none of them is ever left without an owner. */
  readonly labels: Readonly<Record<string, string>>
}

export interface RewrittenDockerfile {
  readonly text: string
  /** What to show for each step of the builder, in its order; undefined for a step that the user did not write. */
  readonly shown: readonly (string | undefined)[]
}

/** The engine's parser refuses lines that are not much longer. */
const MAX_LINE_CHARS = 60_000

/** Without a way to bring anything from outside of the sandbox. */
const PLAIN_TRIGGER = /^(?:ARG|CMD|ENTRYPOINT|ENV|EXPOSE|HEALTHCHECK|LABEL|RUN|SHELL|STOPSIGNAL|USER|VOLUME|WORKDIR)[ \t][^\r\n]*$/i

/**
 * A Dockerfile of one line for each instruction that names its images by id. The engine would look up what FROM and COPY --from say
 * by itself: as the beginning of the id of anybody's image, or at a registry. ADD and triggers that fetch are refused, because
 * the engine fetches from where no egress rules are. What the engine reads is what was written here, so it does not matter
 * whether its parser and ours read every file alike.
 *
 * @throws AppError `failed_precondition` that names the instruction; whatever `resolve` throws
 */
export async function rewriteDockerfile(dockerfile: string, { resolve, labels }: RewriteOptions): Promise<RewrittenDockerfile> {
  const { escape, lines } = logicalLines(dockerfile)
  const state: RewriteState = {
    resolve,
    bound: new ExpansionBound(),
    arguments: new Map(),
    stages: new Set(),
    currentStage: undefined,
    hasStage: false,
  }
  const text: string[] = escape === '`' ? ['# escape=`'] : []
  const shown: (string | undefined)[] = []
  for (const line of lines) {
    const written = await rewriteLine(line, state)
    if (written.length > MAX_LINE_CHARS) throw refused(written, 'the instruction is too long')
    if (continuation(escape).test(written)) throw refused(written, 'the instruction has no end')
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
      throw refused(plain, 'there is no build context; RUN with curl or wget brings what is on the network')
    case 'ONBUILD':
      checkTrigger(rest)
      return plain
    case 'ARG':
      if (!state.hasStage) addArguments(state.arguments, rest)
      return plain
    default:
      return plain
  }
}

/**
 * Triggers run in builds upon the image that has them.
 *
 * @throws AppError `failed_precondition` for one that may fetch something
 */
export function checkTrigger(trigger: string): void {
  if (!PLAIN_TRIGGER.test(trigger)) throw refused(`ONBUILD ${trigger}`, 'a trigger cannot bring files into the image')
}

function labelLine(labels: RewriteOptions['labels']): string {
  return ['LABEL', ...Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`)].join(' ')
}
