import type { CommandContext } from '@sandyard/db/schema/build'
import { readTextFile } from '../../daemon/daemon-files.ts'
import { BuildFailure } from '../build-failure.ts'
import { daemonAt, type Attempt, type Progress, type StepRun } from './attempt.ts'
import { copyFiles } from './copy-files.ts'
import { expandVariables, refersTo } from './expand-variables.ts'
import { runImageTool } from './image-tool.ts'
import { toInstruction, type Instruction } from './instruction.ts'
import { stepPrefix, type Layer, type LayerWork } from './layer-plan.ts'
import { runCommand } from './run-command.ts'
import { variablesOf, withEnv, withUser, withWorkdir } from './step-context.ts'

const TOOL_TIMEOUT_MS = 5 * 60_000

/**
 * Runs one step (control-plane.md 11.4). Each RUN and COPY makes a layer; file changes of other steps become part of the next layer.
 *
 * @throws BuildFailure
 */
export async function runStep(
  attempt: Attempt,
  layer: Layer,
  { work, before }: { readonly work: Extract<LayerWork, { kind: 'step' }>; readonly before: Progress },
): Promise<Progress> {
  const run: StepRun = { attempt, layer, prefix: stepPrefix(work) }
  const instruction = await expand(run, before, toInstruction(work.step, layer.step))
  switch (instruction.type) {
    case 'RUN':
      await runCommand(run, before, instruction)
      return keepLayer(run, before.context)
    case 'COPY':
      await copyFiles(run, before, instruction)
      return keepLayer(run, before.context)
    case 'ENV':
      return { ...before, context: withEnv(before.context, instruction.pairs) }
    case 'WORKDIR':
      return enterDirectory(run, before, instruction.path)
    case 'USER':
      return becomeUser(run, before, instruction)
  }
}

async function keepLayer({ attempt: { sandbox, cache }, layer }: StepRun, context: CommandContext): Promise<Progress> {
  const image = await sandbox.capture()
  await cache.keep({ key: layer.key, image, result: { context } }, { replace: !layer.isCacheable })
  return { image, context, isAhead: false }
}

async function enterDirectory(run: StepRun, before: Progress, path: string): Promise<Progress> {
  const context = withWorkdir(before.context, path)
  const args = { path: context.workdir, user: context.user }
  await runImageTool(run.attempt, await daemonAt(run.attempt, before), { command: 'make-directory', args, ...toolOptions(run) })
  return { ...before, context, isAhead: true }
}

async function becomeUser(run: StepRun, before: Progress, { name, sudo }: Extract<Instruction, { type: 'USER' }>): Promise<Progress> {
  await runImageTool(run.attempt, await daemonAt(run.attempt, before), { command: 'add-user', args: { name, sudo }, ...toolOptions(run) })
  return { ...before, context: withUser(before.context, name), isAhead: true }
}

function toolOptions({ layer: { step }, prefix }: StepRun) {
  return { step, prefix, timeoutMs: TOOL_TIMEOUT_MS }
}

/** Replaces variables in the arguments with their values. For a command the shell does that. */
async function expand({ attempt, layer }: StepRun, before: Progress, instruction: Instruction): Promise<Instruction> {
  if (instruction.type === 'RUN') return instruction
  const home = refersTo('HOME', textsOf(instruction)) ? await homeOf(attempt, before) : undefined
  const lookup = variablesOf(before.context, home)
  const put = (text: string): string => expandVariables(text, lookup)
  const needed = (text: string, what: string): string => {
    const value = put(text)
    if (value === '') throw new BuildFailure(`${instruction.type} requires ${what}: '${text}' is empty`, layer.step)
    return value
  }
  switch (instruction.type) {
    case 'ENV':
      // Pairs do not see each other: all values are from before the step, as in a Dockerfile.
      return { ...instruction, pairs: instruction.pairs.map(([name, value]) => [name, put(value)] as const) }
    case 'WORKDIR':
      return { ...instruction, path: needed(instruction.path, 'a path argument') }
    case 'USER':
      return { ...instruction, name: needed(instruction.name, 'a username argument') }
    case 'COPY': {
      const { source, destination, owner, mode } = instruction.args
      const args = {
        source: needed(source, 'a local path'),
        destination: needed(destination, 'a container path'),
        owner: put(owner),
        mode: put(mode),
      }
      return { ...instruction, args }
    }
  }
}

function textsOf(instruction: Exclude<Instruction, { type: 'RUN' }>): string[] {
  switch (instruction.type) {
    case 'ENV':
      return instruction.pairs.map(([, value]) => value)
    case 'WORKDIR':
      return [instruction.path]
    case 'USER':
      return [instruction.name]
    case 'COPY':
      return Object.values(instruction.args)
  }
}

/** The home of the context's user; undefined for an unknown user. */
async function homeOf(attempt: Attempt, progress: Progress): Promise<string | undefined> {
  const passwd = (await readTextFile(await daemonAt(attempt, progress), '/etc/passwd', attempt.signal)) ?? ''
  const fields = passwd.split('\n').map((line) => line.split(':'))
  return fields.find(([name]) => name === progress.context.user)?.[5]
}
