import { isIP } from 'node:net'
import { join } from 'node:path'
import type { DaemonLog } from '../loggers.ts'
import { CaBundle, InstallationBusy } from './ca-bundle.ts'
import type { DaemonState } from './daemon-state.ts'
import { pointEventsHost } from './events-host.ts'
import type { InitRequest } from './init-request.ts'
import { checkVolumeMounts } from './volume-mounts.ts'

/** The error for the platform, in plain text. */
export interface InitFailure {
  readonly status: 400 | 503
  readonly message: string
}

export interface SystemSettingsOptions {
  /** `/` in a sandbox. */
  readonly root: string
  readonly state: DaemonState
  readonly log: DaemonLog
}

/** What `/init` sets outside of the daemon (envd.md 5.5): trusted certificates, the name of the event collector, volumes. */
export class SystemSettings {
  readonly #options: SystemSettingsOptions
  readonly #caBundle: CaBundle
  #hostsWritten: Promise<void> = Promise.resolve()

  constructor(options: SystemSettingsOptions) {
    this.#options = options
    this.#caBundle = new CaBundle(options.root, (err) => options.log.error({ err }, 'the last CA bundle was not cleaned up'))
  }

  /** Undefined when all is done, or is being done where the platform does not wait for it. Never rejects. */
  async apply({ hyperloopIp, caBundle, removeCaBundle, volumeMounts }: InitRequest): Promise<InitFailure | undefined> {
    if (hyperloopIp !== undefined) this.#pointEventsHost(hyperloopIp)
    try {
      if (removeCaBundle === true) await this.#caBundle.remove()
    } catch (err) {
      return { status: 400, message: `failed to remove CA bundle: ${(err as Error).message}` }
    }
    try {
      if (caBundle !== undefined) await this.#caBundle.install(caBundle)
    } catch (err) {
      return { status: err instanceof InstallationBusy ? 503 : 400, message: `failed to install CA bundle: ${(err as Error).message}` }
    }
    try {
      if (volumeMounts !== undefined) await checkVolumeMounts(volumeMounts, '/proc/self/mountinfo')
    } catch (err) {
      return { status: 400, message: `failed to setup NFS volumes: ${(err as Error).message}` }
    }
    return undefined
  }

  /** Writes one after another, so that the last address wins. */
  #pointEventsHost(ip: string): void {
    const { root, state, log } = this.#options
    this.#hostsWritten = this.#hostsWritten
      .then(async () => {
        if (isIP(ip) === 0) throw new Error('hyperloopIP is no address')
        await pointEventsHost(join(root, 'etc/hosts'), ip)
        state.eventsAddress = `http://${isIP(ip) === 6 ? `[${ip}]` : ip}`
      })
      .catch((err: unknown) => log.error({ err }, 'the event collector was not named'))
  }
}
