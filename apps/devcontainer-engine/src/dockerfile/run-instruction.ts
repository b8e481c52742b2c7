import { mkdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'
import { findUser } from '../root-file-system/find-user.ts'
import { resolveInRoot } from '../root-file-system/resolve-in-root.ts'
import { DEFAULT_PATH, proxyVariables, toWords } from '../root-file-system/root-process.ts'
import { runProgram } from '../root-file-system/run-program.ts'
import { copyFiles } from './copy-files.ts'
import { headOf, parseList, type Instruction } from './parse-dockerfile.ts'
import { toDeclaration } from './plan-stages.ts'
import { expandText, splitWords } from './split-words.ts'
import type { StageState } from './stage-state.ts'

const RUN_MS = 3_600_000

export interface StageContext {
  readonly state: StageState
  readonly root: string
  readonly context: string
  readonly temporary: string
  readonly proot: string
  /** Of the command of the engine: the variables of proxies are seen by RUN and are not part of the image. */
  readonly outerEnvironment: NodeJS.ProcessEnv
  readonly buildArgs: Readonly<Record<string, string>>
  readonly globals: ReadonlyMap<string, string>
  readonly rootOf: (from: string) => Promise<string>
}

/** @throws AppError that names the line */
export async function runInstruction(instruction: Instruction, stage: StageContext): Promise<void> {
  try {
    await perform(instruction, stage)
  } catch (cause) {
    const kind = cause instanceof AppError ? cause.kind : 'internal'
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new AppError(kind, `Dockerfile line ${instruction.line}: ${headOf(instruction)}: ${reason}`, { cause })
  }
}

async function perform(instruction: Instruction, stage: StageContext): Promise<void> {
  const { state } = stage
  const { text, keyword } = instruction
  switch (keyword) {
    case 'RUN':
      return run(instruction, stage)
    case 'COPY':
      return copy(instruction, stage)
    case 'ENV':
      // All values of one instruction see the environment before it.
      state.environment = { ...state.environment, ...toValues(text, state) }
      return
    case 'LABEL':
      state.labels = { ...state.labels, ...toValues(text, state) }
      return
    case 'ARG':
      for (const [name, fallback] of splitWords(text, state.lookup).map(toDeclaration)) {
        const found = stage.buildArgs[name] ?? fallback ?? stage.globals.get(name)
        if (found !== undefined) state.args.set(name, found)
      }
      return
    case 'USER':
      state.user = expandText(text, state.lookup)
      return
    case 'WORKDIR':
      state.workingDirectory = posix.resolve(state.workingDirectory, expandText(text, state.lookup))
      await mkdir(await resolveInRoot(stage.root, state.workingDirectory, { makeParents: true }), { recursive: true })
      return
    case 'SHELL': {
      const shell = parseList(text)
      if (shell === undefined || shell.length === 0) throw new AppError('invalid_argument', 'it needs a list: ["/bin/sh", "-c"]')
      state.shell = shell
      return
    }
    case 'ENTRYPOINT':
      state.setEntrypoint(parseList(text) ?? [...state.shell, text])
      return
    case 'CMD':
      state.setCmd(parseList(text) ?? [...state.shell, text])
      return
    case 'EXPOSE':
      for (const port of splitWords(text, state.lookup)) state.exposedPorts[port.includes('/') ? port : `${port}/tcp`] = {}
      return
    default:
      throw new AppError('unimplemented', 'it is not supported here')
  }
}

async function run({ text }: Instruction, { state, root, proot, outerEnvironment }: StageContext): Promise<void> {
  const user = await findUser(root, state.user)
  const command = parseList(text) ?? [...state.shell, text]
  const words = toWords({ proot, root, user, workingDirectory: state.workingDirectory, binds: [], command, endsAll: true })
  const environment = {
    PATH: DEFAULT_PATH,
    HOME: user.home,
    ...proxyVariables(outerEnvironment),
    ...Object.fromEntries(state.args),
    ...state.environment,
  }
  await runProgram(words, { environment, timeoutMs: RUN_MS })
}

async function copy({ text, flags }: Instruction, { state, root, context, temporary, rootOf }: StageContext): Promise<void> {
  const words = parseList(text)?.map((word) => expandText(word, state.lookup)) ?? splitWords(text, state.lookup)
  const destination = words.at(-1)
  const sources = words.slice(0, -1)
  if (destination === undefined || sources.length === 0) throw new AppError('invalid_argument', 'it needs a source and a destination')
  const from = flags.get('from')
  const expanded = (name: string): string | undefined => {
    const flag = flags.get(name)
    return flag === undefined ? undefined : expandText(flag, state.lookup)
  }
  await copyFiles({
    from: from === undefined ? context : await rootOf(from),
    sources,
    root,
    destination: posix.resolve(state.workingDirectory, destination) + (/\/\.?$/.test(destination) || destination === '.' ? '/' : ''),
    owner: expanded('chown'),
    mode: expanded('chmod'),
    temporary,
  })
}

/** `NAME=value ...`, or the old form `NAME value`. */
function toValues(text: string, state: StageState): Record<string, string> {
  const [, name, rest] = /^([^\s=]+)\s+([\s\S]*)$/.exec(text) ?? []
  if (name !== undefined && rest !== undefined) return { [name]: expandText(rest, state.lookup) }
  const values: Record<string, string> = {}
  for (const [name, value] of splitWords(text, state.lookup).map(toDeclaration)) {
    if (value === undefined) throw new AppError('invalid_argument', `'${name}' is not NAME=value`)
    values[name] = value
  }
  return values
}
