import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ServerConnection } from '@jupyterlab/services/lib/serverconnection.js'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { resultWithin } from '@sandyard/kit/async/within'
import type { Environment } from '@sandyard/kit/config/parse-config'
import { AppError } from '@sandyard/kit/errors/app-error'
import type { Logger } from '@sandyard/kit/logging/create-logger'
import { findFreePort } from '@sandyard/kit/net/free-port'

const START_TIMEOUT_MS = 120_000
const STOP_TIMEOUT_MS = 5000
const AGAIN_MS = 1000

export interface JupyterServerOptions {
  readonly config: string
  readonly environment: Environment
  readonly log: Logger
  /** Called when the server has ended by itself: its kernels are gone. */
  readonly onLost: () => void
}

/**
 * The Jupyter server, a child process on a port of the loopback address with a token of its own. When it ends it is started again.
 * Its kernels end with it, because each watches its parent.
 */
export class JupyterServer implements AsyncDisposable {
  readonly #options: JupyterServerOptions
  #child: ChildProcess | undefined
  #ready: Promise<ServerConnection.ISettings>
  #stopping = false

  constructor(options: JupyterServerOptions) {
    this.#options = options
    this.#ready = this.#start()
    this.#ready.catch(() => undefined)
  }

  /** The variables that kernels inherit. */
  get environment(): Environment {
    return this.#options.environment
  }

  /**
   * How to reach the server, once it answers.
   *
   * @throws AppError `unavailable` when it does not start
   */
  settings(): Promise<ServerConnection.ISettings> {
    return this.#ready
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping = true
    const child = this.#child
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    if ((await resultWithin(STOP_TIMEOUT_MS, ended)) === undefined) child.kill('SIGKILL')
  }

  async #start(): Promise<ServerConnection.ISettings> {
    const port = await findFreePort()
    const token = randomBytes(24).toString('hex')
    const { config, environment, log } = this.#options
    const child = spawn('python3', ['-m', 'jupyter_server', `--config=${config}`, `--ServerApp.port=${port}`], {
      stdio: ['ignore', 'inherit', 'inherit'],
      // The configuration takes the token out of the environment, so that kernels do not inherit it.
      env: { ...environment, CODE_INTERPRETER_JUPYTER_TOKEN: token },
    })
    this.#child = child
    const failed = new AbortController()
    child.once('error', (err) => failed.abort(new AppError('unavailable', 'the Jupyter server could not be started', { cause: err })))
    child.once('exit', (code, signal) => {
      failed.abort(new AppError('unavailable', 'the Jupyter server has ended'))
      if (this.#stopping) return
      log.error({ code, signal }, 'the Jupyter server has ended, and is started again')
      this.#ready = delay(AGAIN_MS).then(() => this.#start())
      this.#ready.catch(() => undefined)
      this.#options.onLost()
    })
    const baseUrl = `http://127.0.0.1:${port}/`
    const settings = ServerConnection.makeSettings({ baseUrl, wsUrl: `ws://127.0.0.1:${port}/`, token, appendToken: true })
    const answers = async (): Promise<true | undefined> => {
      const answer = await fetch(`${baseUrl}api/kernels`, { headers: { Authorization: `token ${token}` } }).catch(() => undefined)
      await answer?.body?.cancel()
      return answer?.ok === true ? true : undefined
    }
    try {
      await pollUntil({ what: 'the Jupyter server', timeoutMs: START_TIMEOUT_MS, everyMs: 20, signal: failed.signal }, answers)
    } catch (err) {
      throw failed.signal.aborted ? failed.signal.reason : err
    }
    return settings
  }
}
