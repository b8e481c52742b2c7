import { fail, skipped, worstOf, type Check, type Finding } from '../check.ts'
import { requireEngineNetwork, type Facts } from '../facts/facts.ts'
import { Unreadable } from '../facts/unreadable.ts'

const PLAIN_PORT = 2375
const OTHERS_WRITE = 0o002

export const engineExposed: Check = {
  id: 'E8',
  title: 'Engine exposed',
  checks:
    'fails when `DOCKER_HOST` is tcp (which is without TLS), when port 2375 listens off loopback in `/proc/net/tcp`, and when all users may write to the socket; in a container without the network of the host the port is not looked at',
  why: 'Who reaches the engine is root on its host.',
  todo: 'Let the engine listen on a socket with mode 0660 only; reach a remote engine through a tunnel (ssh -L /path/docker.sock:/var/run/docker.sock).',
  async run(facts): Promise<Finding> {
    const { address } = facts.engine
    const isTcp = !address.startsWith('unix://')
    const access = isTcp ? fail(`the engine is reached at ${address} without TLS`) : checkMode(facts, address.slice('unix://'.length))
    const unseen = await whyUnseen(facts)
    if (access === undefined && unseen !== undefined)
      return skipped(`${address} is closed to others, but port ${PLAIN_PORT} was not looked at: ${unseen}`)
    return worstOf(
      [access, unseen === undefined ? checkPort(facts) : undefined],
      `${address}, and port ${PLAIN_PORT} is not open to others`,
    )
  },
}

/** Undefined where `/proc` has the network of the engine's host. */
async function whyUnseen(facts: Facts): Promise<string | undefined> {
  try {
    await requireEngineNetwork(facts)
    return undefined
  } catch (err) {
    if (err instanceof Unreadable) return err.message
    throw err
  }
}

function checkMode({ machine }: Facts, path: string): Finding | undefined {
  const mode = machine.stat(path)?.mode ?? 0
  if ((mode & OTHERS_WRITE) === 0) return undefined
  const text = (mode & 0o777).toString(8)
  return fail(`every user of this machine may use the engine: ${path} has mode ${text}`, { commands: [`chmod o-rwx ${path}`] })
}

function checkPort({ host }: Facts): Finding | undefined {
  const open = host.listeners().find(({ port, isLoopback }) => port === PLAIN_PORT && !isLoopback)
  return open === undefined ? undefined : fail(`port ${PLAIN_PORT}, that of engines without TLS, listens on ${open.address}`)
}
