import { expandArguments, type GlobalArguments } from './expand-arguments.ts'
import type { Escape } from './expand-word.ts'
import type { ExpansionBound } from './expansion-bound.ts'
import { refused } from './refused.ts'
import { StageContext, type StageBase } from './stage-context.ts'

/** The image of a reference. */
export interface BaseImage extends StageBase {
  readonly id: string
  /** The ONBUILD instructions, which the builder runs first in a stage that starts from the image. */
  readonly triggers: readonly string[]
}

/** The state of the rewrite between two instructions. */
export interface RewriteState {
  readonly resolve: (reference: string) => Promise<BaseImage>
  readonly escape: Escape
  readonly bound: ExpansionBound
  readonly arguments: GlobalArguments
  /** The complete stages. For the engine the name of the current stage is the name of an image. */
  readonly stages: Map<string, StageContext>
  currentStage: string | undefined
  /** Undefined before the first FROM. */
  context: StageContext | undefined
}

/** The engine also separates words at NEL (U+0085). */
const SPACE = /[\s\u0085]+/
const PLATFORM = /^--platform=[\w./${}-]+$/
const STAGE = /^[a-zA-Z][\w.-]*$/
const NO_IMAGE = 'scratch'
const NO_BASE: StageBase = { env: [], workdir: undefined }

/** @throws AppError `failed_precondition` for an invalid FROM */
export async function rewriteFrom(rest: string, state: RewriteState): Promise<string> {
  const instruction = `FROM ${rest}`
  if (state.currentStage !== undefined && state.context !== undefined) state.stages.set(state.currentStage, state.context)
  state.context ??= StageContext.of(NO_BASE)
  const words = rest.split(SPACE).filter((word) => word !== '')
  const flags = words.filter((word) => word.startsWith('--'))
  const [base = '', as, stage, ...more] = words.filter((word) => !word.startsWith('--'))
  if (flags.some((flag) => !PLATFORM.test(flag))) throw refused(instruction, 'FROM has no flag but --platform')
  if (base === '' || more.length > 0) throw refused(instruction, 'FROM takes one image, and optionally AS and the name of the stage')
  if (as !== undefined && (as.toUpperCase() !== 'AS' || stage === undefined || !STAGE.test(stage))) {
    throw refused(instruction, 'only AS and a name of letters, digits, "_", "." and "-" may follow the image')
  }
  const reference = expandArguments(base, state.arguments)
  if (reference === '') throw refused(instruction, 'the name of the image is empty after the variables are replaced')
  const former = state.stages.get(reference.toLowerCase())
  let image = reference
  if (former !== undefined) state.context = former.fork()
  else if (reference === NO_IMAGE) state.context = StageContext.of(NO_BASE)
  else image = await resolveBase(reference, state)
  state.currentStage = stage?.toLowerCase()
  return ['FROM', ...flags, image, ...(stage === undefined ? [] : ['AS', stage])].join(' ')
}

/** @throws AppError `failed_precondition` for flags with quotes or escapes */
export async function rewriteCopy(rest: string, state: RewriteState): Promise<string> {
  const words = rest.split(SPACE).filter((word) => word !== '')
  const end = words.findIndex((word) => !word.startsWith('--'))
  const flags = end === -1 ? words : words.slice(0, end)
  const written: string[] = []
  for (const flag of flags) {
    // The engine removes quotes and escapes before it reads the flags, so they could hide a --from.
    if (/["'`\\]/.test(flag)) throw refused(`COPY ${rest}`, 'its flags cannot have quotes or escapes')
    const [, reference] = /^--from=([^]*)$/i.exec(flag) ?? []
    const isPlain = reference === undefined || /^\d+$/.test(reference) || isStage(reference, state)
    written.push(isPlain ? flag : `--from=${(await state.resolve(reference)).id}`)
  }
  // The rest is copied unchanged: in a JSON array the name of a file may contain several spaces.
  const files = rest.slice(flags.reduce((from, flag) => rest.indexOf(flag, from) + flag.length, 0)).trim()
  return ['COPY', ...written, files].join(' ')
}

/** The engine runs the triggers of the image as they are, so their effect is only followed here. */
async function resolveBase(reference: string, state: RewriteState): Promise<string> {
  const base = await state.resolve(reference)
  const context = StageContext.of(base)
  state.bound.addImage(base.env)
  for (const trigger of base.triggers) {
    const [, word = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(trigger.trim()) ?? []
    const instruction = word.toUpperCase()
    state.bound.add(instruction, rest)
    if (instruction === 'ENV') context.setEnv(rest, state.escape)
    if (instruction === 'ARG') context.setArgs(rest, state.escape, state.arguments)
    if (instruction === 'WORKDIR') context.enter(rest, state.escape)
  }
  state.context = context
  return base.id
}

function isStage(name: string, { stages }: RewriteState): boolean {
  return stages.has(name.toLowerCase())
}
