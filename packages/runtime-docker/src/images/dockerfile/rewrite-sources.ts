import { expandArguments, type GlobalArguments } from './expand-arguments.ts'
import type { ExpansionBound } from './expansion-bound.ts'
import { refused } from './refused.ts'

/** The image of a reference. */
export interface BaseImage {
  readonly id: string
  /** Its variables, as `NAME=value`. */
  readonly env: readonly string[]
  /** The ONBUILD instructions, which the builder runs first in a stage that starts from the image. */
  readonly triggers: readonly string[]
}

/** The state of the rewrite between two instructions. */
export interface RewriteState {
  readonly resolve: (reference: string) => Promise<BaseImage>
  readonly bound: ExpansionBound
  readonly arguments: GlobalArguments
  /** The complete stages. For the engine the name of the current stage is the name of an image. */
  readonly stages: Set<string>
  currentStage: string | undefined
  hasStage: boolean
}

/** The engine also separates words at NEL (U+0085). */
const SPACE = /[\s\u0085]+/
const PLATFORM = /^--platform=[\w./${}-]+$/
const STAGE = /^[a-zA-Z][\w.-]*$/
const NO_IMAGE = 'scratch'

/** @throws AppError `failed_precondition` for an invalid FROM */
export async function rewriteFrom(rest: string, state: RewriteState): Promise<string> {
  const instruction = `FROM ${rest}`
  if (state.currentStage !== undefined) state.stages.add(state.currentStage)
  state.hasStage = true
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
  const image = reference === NO_IMAGE || isStage(reference, state) ? reference : await resolveBase(reference, state)
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

async function resolveBase(reference: string, { resolve, bound }: RewriteState): Promise<string> {
  const { id, env, triggers } = await resolve(reference)
  bound.addImage(env)
  for (const trigger of triggers) {
    const [, instruction = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(trigger.trim()) ?? []
    bound.add(instruction.toUpperCase(), rest)
  }
  return id
}

function isStage(name: string, { stages }: RewriteState): boolean {
  return stages.has(name.toLowerCase())
}
