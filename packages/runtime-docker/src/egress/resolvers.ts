import { isIPv4 } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { AppError } from '@sandyard/kit/errors/app-error'
import type Docker from 'dockerode'
import { randomId } from '@sandyard/kit/ids/ids'
import { LABEL } from '../labels.ts'

const FILE = '/etc/resolv.conf'
const READ_TIMEOUT_MS = 15_000

export interface ProbeOptions {
  readonly installation: string
  /** Must contain `cat`. */
  readonly image: string
}

/**
 * The resolvers that the engine gives to containers: those of its host without loopback addresses, which a container cannot
 * reach. The file on the host may name a local stub only, so this starts a container without a network and reads its file.
 *
 * @throws AppError `failed_precondition` when there is no resolver: names would never resolve inside
 */
export async function engineResolvers(docker: Docker, { installation, image }: ProbeOptions): Promise<string[]> {
  const file = await readInContainer(docker, { installation, image })
  const resolvers = [...file.matchAll(/^nameserver\s+(\S+)/gm)].map((match) => match[1] ?? '').filter((address) => isIPv4(address))
  if (resolvers.length > 0) return resolvers
  throw new AppError('failed_precondition', 'The Docker engine has no IPv4 resolver: set SANDYARD_RESOLVERS.')
}

async function readInContainer(docker: Docker, { installation, image }: ProbeOptions): Promise<string> {
  const container = await docker.createContainer({
    name: `sandyard-probe-${randomId(12)}`,
    Image: image,
    Labels: { [LABEL.installation]: installation, [LABEL.role]: 'probe' },
    Entrypoint: ['cat', FILE],
    Cmd: [],
    // With a terminal the output is one stream without the engine's framing.
    Tty: true,
    HostConfig: { AutoRemove: true, NetworkMode: 'none', CapDrop: ['ALL'], LogConfig: { Type: 'none', Config: {} } },
  })
  try {
    const output = (await container.attach({ stream: true, stdout: true, hijack: true })) as Duplex
    const late = new AppError('deadline_exceeded', 'The resolvers of the Docker engine could not be read in time.')
    const timer = setTimeout(() => output.destroy(late), READ_TIMEOUT_MS)
    try {
      // Reading starts before the container, so that a stream error has a listener.
      const [read] = await Promise.all([text(output), container.start()])
      return read
    } finally {
      clearTimeout(timer)
      output.destroy()
    }
  } catch (err) {
    await container.remove({ force: true }).catch(() => undefined)
    throw err
  }
}
