import { AppError } from '@sandyard/kit/errors/app-error'
import { refuseLine, type Instruction } from './parse-dockerfile.ts'
import { expandText, splitWords, type Lookup } from './split-words.ts'

export interface Stage {
  readonly index: number
  readonly name: string | undefined
  /** Another stage, `scratch` or the reference of an image. */
  readonly base: Stage | 'scratch' | { readonly image: string }
  readonly line: number
  readonly instructions: readonly Instruction[]
  /** Stages and images that its COPY --from names, by the text of the flag. */
  readonly sources: ReadonlyMap<string, Stage | { readonly image: string }>
}

export interface StagePlan {
  readonly target: Stage
  /** ARG before the first FROM, with the values of `--build-arg`, and the arguments of the platform. */
  readonly globals: ReadonlyMap<string, string>
}

/** Arguments that no Dockerfile needs to declare before FROM. Builds run on the machine that they are for. */
function platformArgs(platform: string): [string, string][] {
  const [os = '', architecture = ''] = platform.split('/')
  return ['BUILD', 'TARGET'].flatMap((prefix) => [
    [`${prefix}PLATFORM`, platform],
    [`${prefix}OS`, os],
    [`${prefix}ARCH`, architecture],
  ])
}

/** The stages with what they are made of. A stage that the target does not need is only parsed. */
export function planStages(
  instructions: readonly Instruction[],
  { buildArgs, target, platform }: { buildArgs: Readonly<Record<string, string>>; target: string | undefined; platform: string },
): StagePlan {
  const globals = new Map(platformArgs(platform))
  const lookup: Lookup = (name) => globals.get(name)
  const stages: Stage[] = []
  const find = (text: string): Stage | undefined =>
    stages.findLast(({ name }) => name === text.toLowerCase()) ?? (/^\d+$/.test(text) ? stages[Number(text)] : undefined)
  let own: Instruction[] = []
  let sources = new Map<string, Stage | { image: string }>()
  for (const instruction of instructions) {
    if (instruction.keyword === 'FROM') {
      own = []
      sources = new Map()
      stages.push({ ...readFrom(instruction, { lookup, find, platform }), index: stages.length, instructions: own, sources })
    } else if (stages.length > 0) {
      own.push(instruction)
      const from = instruction.flags.get('from')
      if (from !== undefined) sources.set(from, find(from) ?? { image: from })
    } else if (instruction.keyword === 'ARG') {
      for (const [name, text] of splitWords(instruction.text, lookup).map(toDeclaration)) {
        const found = buildArgs[name] ?? text
        if (found !== undefined) globals.set(name, found)
      }
    } else throw refuseLine(instruction.line, `${instruction.keyword} before the first FROM`)
  }
  const chosen = target === undefined ? stages.at(-1) : find(target)
  if (chosen === undefined)
    throw new AppError('invalid_argument', target === undefined ? 'The Dockerfile has no FROM' : `The Dockerfile has no stage '${target}'`)
  return { target: chosen, globals }
}

interface FromContext {
  readonly lookup: Lookup
  readonly find: (text: string) => Stage | undefined
  readonly platform: string
}

function readFrom({ line, text, flags }: Instruction, { lookup, find, platform }: FromContext): Pick<Stage, 'name' | 'base' | 'line'> {
  const wanted = flags.get('platform')
  if (wanted !== undefined) requirePlatform(expandText(wanted, lookup), platform, line)
  const [base = '', as, name, ...rest] = splitWords(text, lookup)
  if (base === '') throw refuseLine(line, 'FROM names an image by a variable that has no value')
  if ((as !== undefined && (as.toUpperCase() !== 'AS' || name === undefined)) || rest.length > 0)
    throw refuseLine(line, 'FROM is not <image> [AS <name>]')
  return { name: name?.toLowerCase(), base: find(base) ?? (base === 'scratch' ? base : { image: base }), line }
}

function requirePlatform(wanted: string, platform: string, line: number): void {
  if (wanted !== platform && !wanted.startsWith(`${platform}/`)) throw refuseLine(line, `this sandbox runs ${platform}, not ${wanted}`)
}

/** A word of ARG: `NAME` or `NAME=value`. */
export function toDeclaration(word: string): readonly [string, string | undefined] {
  const at = word.indexOf('=')
  return at < 0 ? [word, undefined] : [word.slice(0, at), word.slice(at + 1)]
}
