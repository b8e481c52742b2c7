import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from '../../../../packages/runtime-docker/src/host/find-program.ts'
import { connectEngine } from '../../../../packages/runtime-docker/src/engine/connect-engine.ts'
import { pollUntil } from '../../../../packages/kit/src/async/poll-until.ts'
import { runCommand } from '../../../../tools/gate/run-command.ts'
import type { Part } from './part.ts'

const START_TIMEOUT_MS = 120_000
const COPY_TIMEOUT_MS = 600_000

/**
 * A dockerd with its own files and its own containerd, in the network and mount namespaces of this process: they belong to this run (`runInOwnNamespaces`),
 * so it does not change the network of the machine's engine. A kill ends its containerd too; the processes of containers go on until it starts again.
 */
export class EnginePart implements Part, AsyncDisposable {
  readonly kind = 'engine'
  readonly name = 'engine'
  readonly address: string
  readonly #folder: string
  #child: ChildProcess | undefined

  constructor(folder: string) {
    mkdirSync(folder, { recursive: true })
    // Not the configuration of the machine's engine.
    writeFileSync(join(folder, 'daemon.json'), '{}')
    this.#folder = folder
    this.address = `unix://${folder}/docker.sock`
  }

  /** Copies the images that a server would make otherwise, which takes minutes. */
  async copyImages(from: string): Promise<void> {
    const list = `docker -H ${from} images --format '{{.Repository}}:{{.Tag}}' | grep -E '^sandyard/(base|guard|empty):'`
    const script = `docker -H ${from} save $(${list}) | docker -H ${this.address} load`
    const { ok, output } = await runCommand('sh', ['-c', script], { timeoutMs: COPY_TIMEOUT_MS })
    if (!ok) throw new Error(`the images could not be copied: ${output}`)
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  async restart(): Promise<void> {
    const folder = this.#folder
    // An engine refuses to start while any process has the number in it.
    rmSync(join(folder, 'pid'), { force: true })
    const place = `--config-file ${folder}/daemon.json --data-root ${folder}/data --exec-root ${folder}/exec --pidfile ${folder}/pid --host ${this.address}`
    const logFile = join(folder, 'engine.log')
    const log = openSync(logFile, 'a')
    const child = spawn(findProgram('dockerd') ?? 'dockerd', place.split(' '), { stdio: ['ignore', log, log] })
    closeSync(log)
    this.#child = child
    await pollUntil({ what: `the engine (${logFile})`, timeoutMs: START_TIMEOUT_MS, everyMs: 100 }, async () => {
      if (child.exitCode !== null) throw new Error(`the engine ended: ${readFileSync(logFile, 'utf8').slice(-2000)}`)
      return connectEngine(this.address).then(
        () => true,
        () => undefined,
      )
    })
  }

  /** Its containers end with the process namespace of this run. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
  }
}
