import type { BuildStep } from '../build-plan.ts'
import { BuildFailure } from '../build-failure.ts'
import type { StepName } from '../build-runner.ts'

/** A step with validated arguments, not yet expanded. */
export type Instruction =
  | { readonly type: 'RUN'; readonly command: string; readonly user: string | undefined }
  | { readonly type: 'COPY'; readonly args: CopyArgs; readonly filesHash: string }
  | { readonly type: 'ENV'; readonly pairs: readonly (readonly [string, string])[] }
  | { readonly type: 'WORKDIR'; readonly path: string }
  | { readonly type: 'USER'; readonly name: string; readonly sudo: boolean }

interface CopyArgs {
  readonly source: string
  readonly destination: string
  /** Empty: the user of the context. */
  readonly owner: string
  /** Empty: the mode in the archive. */
  readonly mode: string
}

/** @throws BuildFailure with the texts of control-plane.md 11.4 */
export function toInstruction({ type, args, filesHash }: BuildStep, step: StepName): Instruction {
  const fail = (message: string): never => {
    throw new BuildFailure(message, step)
  }
  const [first = '', second = '', third = '', fourth = ''] = args
  switch (type.toUpperCase()) {
    case 'RUN':
      if (first === '') return fail('RUN requires command argument')
      return { type: 'RUN', command: first, user: second === '' ? undefined : second }
    case 'COPY':
    case 'ADD':
      if (first === '' || second === '') return fail('COPY requires a local path and a container path argument')
      if (filesHash === undefined || filesHash === '') return fail('COPY requires files hash to be set')
      return { type: 'COPY', args: { source: first, destination: second, owner: third, mode: fourth }, filesHash }
    case 'ENV':
    case 'ARG':
      if (args.length === 0) return fail('ENV does not support passing no arguments')
      if (args.length % 2 !== 0) return fail('ENV requires both a key and value arguments')
      return { type: 'ENV', pairs: checkNames(toPairs(args), step) }
    case 'WORKDIR':
      if (first === '') return fail('WORKDIR requires a path argument')
      return { type: 'WORKDIR', path: first }
    case 'USER':
      if (first === '') return fail('USER requires a username argument')
      return { type: 'USER', name: first, sudo: second === 'true' }
    default:
      // Wire text of control-plane.md 11.4 for an unknown step type. Every type of the interface is handled above: nothing is unfinished here.
      return fail(`command type ${type} is not implemented`)
  }
}

function toPairs(args: readonly string[]): [string, string][] {
  return args.flatMap((name, at) => (at % 2 === 0 ? [[name, args[at + 1] ?? ''] satisfies [string, string]] : []))
}

/** No process can have variables with other names. */
function checkNames(pairs: [string, string][], step: StepName): [string, string][] {
  const wrong = pairs.find(([name]) => name === '' || /[=\0]/.test(name))
  if (wrong !== undefined) throw new BuildFailure(`ENV key ${JSON.stringify(wrong[0])} is not a name of a variable`, step)
  return pairs
}
