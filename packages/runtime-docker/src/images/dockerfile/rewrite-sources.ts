import { expandArguments, type GlobalArguments } from './expand-arguments.ts'
import type { ExpansionBound } from './expansion-bound.ts'
import { refused } from './refused.ts'

/** An image that a reference means. */
export interface BaseImage {
  readonly id: string
  /** Its variables, as `NAME=value`. */
  readonly env: readonly string[]
  /** The instructions that the builder runs first in a stage that begins with it. */
  readonly triggers: readonly string[]
}

/** How far the rewriting has come. */
export interface RewriteState {
  readonly resolve: (reference: string) => Promise<BaseImage>
  readonly bound: ExpansionBound
  readonly arguments: GlobalArguments
  /** The stages that are complete: the engine takes the name of the one it is in for an image. */
  readonly stages: Set<string>
  currentStage: string | undefined
  hasStage: boolean
}

/** The engine separates words at NEL too. */
const SPACE = /[\s\u0085]+/
const PLATFORM = /^--platform=[\w./${}-]+$/
const STAGE = /^[a-zA-Z][\w.-]*$/
const NO_IMAGE = 'scratch'

/** @throws AppError `failed_precondition` for what is no FROM */
export async function rewriteFrom(rest: string, state: RewriteState): Promise<string> {
  const instruction = `FROM ${rest}`
  if (state.currentStage !== undefined) state.stages.add(state.currentStage)
  state.hasStage = true
  const words = rest.split(SPACE).filter((word) => word !== '')
  const flags = words.filter((word) => word.startsWith('--'))
  const [base = '', as, stage, ...more] = words.filter((word) => !word.startsWith('--'))
  if (flags.some((flag) => !PLATFORM.test(flag))) throw refused(instruction, '--platform is the only flag that FROM has')
  if (base === '' || more.length > 0) throw refused(instruction, 'FROM has one image and perhaps the name of the stage')
  if (as !== undefined && (as.toUpperCase() !== 'AS' || stage === undefined || !STAGE.test(stage))) {
    throw refused(instruction, 'AS and a name of letters, digits, "_", "." and "-" follow the image')
  }
  const reference = expandArguments(base, state.arguments)
  if (reference === '') throw refused(instruction, 'its variables leave no name of an image')
  const image = reference === NO_IMAGE || isStage(reference, state) ? reference : await resolveBase(reference, state)
  state.currentStage = stage?.toLowerCase()
  return ['FROM', ...flags, image, ...(stage === undefined ? [] : ['AS', stage])].join(' ')
}

/** @throws AppError `failed_precondition` for flags in which something is hidden */
export async function rewriteCopy(rest: string, state: RewriteState): Promise<string> {
  const words = rest.split(SPACE).filter((word) => word !== '')
  const end = words.findIndex((word) => !word.startsWith('--'))
  const flags = end === -1 ? words : words.slice(0, end)
  const written: string[] = []
  for (const flag of flags) {
    // The engine takes quotes and escapes out of flags before it reads them.
    if (/["'`\\]/.test(flag)) throw refused(`COPY ${rest}`, 'its flags cannot have quotes or escapes')
    const [, reference] = /^--from=([^]*)$/i.exec(flag) ?? []
    const isPlain = reference === undefined || /^\d+$/.test(reference) || isStage(reference, state)
    written.push(isPlain ? flag : `--from=${(await state.resolve(reference)).id}`)
  }
  // A name of a file may have several spaces in it, in the form of a JSON array.
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
