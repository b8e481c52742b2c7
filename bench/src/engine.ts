import { request, type IncomingMessage } from 'node:http'
import { json } from 'node:stream/consumers'

/** The used fields of the engine's answers. */
export interface ContainerFacts {
  readonly Id: string
  readonly Image: string
  readonly State: { readonly Pid: number }
  readonly NetworkSettings: { readonly Networks: Readonly<Record<string, { readonly IPAddress: string }>> }
}

const SOCKET = (process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock').replace(/^unix:\/\//, '')

/** The used settings of a container, in the engine's terms. */
export interface ContainerRequest {
  readonly Image: string
  readonly Entrypoint: readonly string[]
  readonly Cmd: readonly string[]
  readonly User?: string
  readonly Labels?: Readonly<Record<string, string>>
  /** Keeps standard input open without a writer. */
  readonly OpenStdin?: boolean
  readonly HostConfig?: Readonly<Record<string, unknown>>
}

/** Uses the engine directly, without its command line: nothing on this engine can be faster. */
export async function createAndStart(image: string): Promise<string> {
  return await startContainer({ Image: image, Entrypoint: ['sleep'], Cmd: ['600'] })
}

/** Returns the id of a container that has started. After a failure none is left. */
export async function startContainer(wanted: ContainerRequest): Promise<string> {
  const body = { ...wanted, Labels: { 'sandyard.bench': '1', ...wanted.Labels } }
  const { Id } = (await call('POST', '/containers/create', body)) as { Id: string }
  try {
    await call('POST', `/containers/${Id}/start`)
  } catch (error) {
    await removeContainer(Id)
    throw error
  }
  return Id
}

/** Succeeds also when the container is absent, or when another process removes it at the same time. */
export async function removeContainer(id: string): Promise<void> {
  await call('DELETE', `/containers/${id}?force=true&v=true`).catch((error: unknown) => {
    if (!(error instanceof EngineError && [404, 409].includes(error.status))) throw error
  })
}

/** Freezes all processes of a running container. */
export async function pauseContainer(id: string): Promise<void> {
  await call('POST', `/containers/${id}/pause`)
}

export async function unpauseContainer(id: string): Promise<void> {
  await call('POST', `/containers/${id}/unpause`)
}

/** Stores the files of a container as an image and returns its id. The container is frozen meanwhile. */
export async function commitContainer(id: string): Promise<string> {
  return ((await call('POST', `/commit?container=${id}&pause=true`, {})) as { Id: string }).Id
}

export async function removeImage(id: string): Promise<void> {
  await call('DELETE', `/images/${id}?force=true`)
}

class EngineError extends Error {
  override readonly name = 'EngineError'
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.status = status
  }
}

export async function getContainer(id: string): Promise<ContainerFacts> {
  return (await call('GET', `/containers/${id}/json`)) as ContainerFacts
}

/** All containers with the label, including ended ones. */
export async function listContainers(label: string): Promise<{ readonly Id: string; readonly Labels: Readonly<Record<string, string>> }[]> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
  return (await call('GET', `/containers/json?all=true&filters=${filters}`)) as { Id: string; Labels: Record<string, string> }[]
}

/** Volumes, networks or images with the label. */
export async function countLabelled(kind: 'volumes' | 'networks' | 'images', label: string): Promise<number> {
  const filters = encodeURIComponent(JSON.stringify({ label: [label] }))
  const found = (await call('GET', `${kind === 'images' ? '/images/json' : `/${kind}`}?filters=${filters}`)) as
    | unknown[]
    | { Volumes?: unknown[] }
  return Array.isArray(found) ? found.length : (found.Volumes?.length ?? 0)
}

/** The installation that a sandbox of the measured server belongs to. */
export async function findInstallation(sandboxId: string): Promise<string> {
  const [found] = await listContainers(`sandyard.sandbox-id=${sandboxId}`)
  const installation = found?.Labels['sandyard.installation']
  if (installation === undefined) throw new Error(`the engine on this machine has no container of the sandbox ${sandboxId}`)
  return installation
}

export async function hasImage(name: string): Promise<boolean> {
  const filters = encodeURIComponent(JSON.stringify({ reference: [name] }))
  return ((await call('GET', `/images/json?filters=${filters}`)) as unknown[]).length > 0
}

/** The container of a sandbox of the measured server. */
export async function findSandboxContainer(sandboxId: string): Promise<ContainerFacts> {
  const filters = encodeURIComponent(JSON.stringify({ label: [`sandyard.sandbox-id=${sandboxId}`, 'sandyard.role=sandbox'] }))
  const [found] = (await call('GET', `/containers/json?filters=${filters}`)) as { Id: string }[]
  if (found === undefined)
    throw new Error(`the engine on this machine has no container of the sandbox ${sandboxId}: the benchmarks run beside the server`)
  return await getContainer(found.Id)
}

/** Pids on this machine, and commands, of all processes of a container. */
export async function listProcesses(id: string): Promise<{ pid: number; command: string }[]> {
  const { Processes } = (await call('GET', `/containers/${id}/top?ps_args=${encodeURIComponent('-eo pid,args')}`)) as {
    Processes: [string, string][]
  }
  return Processes.map(([pid, command]) => ({ pid: Number(pid), command }))
}

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ socketPath: SOCKET, method, path: `/v1.40${path}`, headers }, resolve)
      .on('error', reject)
      .end(text)
  })
  const value = answer.statusCode === 204 ? (answer.resume(), undefined) : await json(answer)
  const { statusCode = 500 } = answer
  if (statusCode >= 400)
    throw new EngineError(`the engine answered ${statusCode} to ${method} ${path}: ${JSON.stringify(value)}`, statusCode)
  return value
}
