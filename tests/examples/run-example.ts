import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from '../../tools/gate/run-command.ts'
import { runProgram, type ProgramEnd } from '../matrix/run-program.ts'

/** Longer than the tests wait: a download from a registry that hangs ends with its own message. */
const INSTALL_TIMEOUT_MS = 240_000
const RUN_TIMEOUT_MS = 280_000

const EXAMPLES = join(ROOT, 'examples')

/** A copy of an example in a directory of its own, where its README says what to run. Disposing removes it. */
export interface ExampleCopy extends AsyncDisposable {
  readonly directory: string
  /** Runs a program in it, with the settings of the server under test. */
  run(program: string, args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<ProgramEnd>
}

/** Copies an example without what an earlier run left there. */
export async function copyExample(name: string): Promise<ExampleCopy> {
  const directory = await mkdtemp(join(tmpdir(), `sandyard-example-${name}-`))
  await cp(join(EXAMPLES, name), directory, { recursive: true, filter: (source) => !source.includes('node_modules') })
  return {
    directory,
    run: (program, args, environment = {}) =>
      runProgram(program, args, {
        timeoutMs: RUN_TIMEOUT_MS,
        cwd: directory,
        environment: { ...process.env, NO_PROXY: '127.0.0.1,localhost', no_proxy: '127.0.0.1,localhost', ...environment },
      }),
    [Symbol.asyncDispose]: () => rm(directory, { recursive: true, force: true }),
  }
}

/** Installs the npm packages of an example. */
export async function npmInstall(example: ExampleCopy): Promise<void> {
  const installed = await runProgram('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
    timeoutMs: INSTALL_TIMEOUT_MS,
    cwd: example.directory,
  })
  if (installed.status !== 0) throw new Error(`npm install failed: ${installed.stderr}`)
}

/** Installs the npm packages of an example, and runs one of its scripts. */
export async function npmRun(example: ExampleCopy, script: string): Promise<ProgramEnd> {
  await npmInstall(example)
  return example.run('npm', ['run', '--silent', script], { CI: 'true', VITEST: '' })
}
