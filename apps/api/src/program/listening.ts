import { createServer } from 'node:net'
import type { ProgramConfig } from './config.ts'
import { StartFailure } from './failures/start-failure.ts'

/** The port of a server, with its description for messages. */
export interface Listening {
  /** As it reads after "for": `the API`. */
  readonly purpose: string
  readonly host: string
  readonly port: number
  /** The variable that sets it. */
  readonly setting: string
}

/** Converts a failure to listen to a sentence; returns any other error unchanged. */
export function explainListenFailure(err: unknown, { purpose, host, port, setting }: Listening): unknown {
  const { code } = err as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') {
    return new StartFailure(`The port ${port} for ${purpose} is taken: end the program that uses it, or choose another with ${setting}.`)
  }
  if (code === 'EACCES') {
    return new StartFailure(`The port ${port} for ${purpose} needs more rights than this user has: choose one above 1023 with ${setting}.`)
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return new StartFailure(`The address ${host} is not one of this machine: choose another with SANDYARD_BIND.`)
  }
  return err
}

type Listeners = Pick<ProgramConfig, 'bind' | 'apiPort' | 'metricsPort'>

export function apiListening({ bind: host, apiPort: port }: Listeners): Listening {
  return { purpose: 'the API', host, port, setting: 'SANDYARD_API_PORT' }
}

export function metricsListening({ bind: host, metricsPort: port }: Listeners): Listening {
  return { purpose: 'the metrics', host, port, setting: 'SANDYARD_METRICS_PORT' }
}

/**
 * Checks the ports before the long part of a start, so that a taken port is reported at once. If a port is taken later, the failure
 * to listen is reported.
 *
 * @throws StartFailure for the first port that is not available
 */
export async function checkPorts(all: readonly Listening[]): Promise<void> {
  for (const listening of all) {
    const probe = createServer()
    try {
      await new Promise<void>((resolve, reject) => probe.once('error', reject).listen(listening.port, listening.host, resolve))
    } catch (err) {
      throw explainListenFailure(err, listening)
    }
    await new Promise((resolve) => probe.close(resolve))
  }
}

/** The URL at which a client on this machine reaches a server that listens on `host`. */
export function localUrl(host: string, port: number): string {
  const reached = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }[host] ?? (host.includes(':') ? `[${host}]` : host)
  return `http://${reached}:${port}`
}
