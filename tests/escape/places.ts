import { setTimeout as delay } from 'node:timers/promises'
import { Template, type CommandHandle, type Sandbox } from 'e2b'
import { randomId } from '@sandyard/kit/ids/ids'
import type { Account, Place, Probe } from './probe.ts'
import type { Variables } from './world/targets.ts'

/** Options of the SDK for the server under test. */
export interface Connection {
  readonly apiKey: string
  readonly accessToken: string
  readonly apiUrl: string
  readonly sandboxUrl: string
}

/** One account in one place, with the name that its packets carry. */
export interface Spot {
  readonly place: Place
  readonly account: Account
}

/** One command for each account. */
export type Commands = readonly (readonly [Account, string])[]

/** The outcomes of probes by `<mark of the spot> <id>`. */
export type Outcomes = ReadonlyMap<string, string>

const MARKS: Readonly<Record<Place, string>> = {
  sandbox: 'sandbox',
  'sandbox without internet': 'offline',
  'template step': 'template',
  'Dockerfile step': 'dockerfile',
  upload: 'upload',
}
const WIDTH = 12
const BUILD_DEADLINE_MS = 120_000

/** The name of a spot in markers and output. */
export function markOf({ place, account }: Spot): string {
  return `${MARKS[place]}-${account}`
}

/** The command that runs the probes of a spot. */
export function commandOf(mark: string, probes: readonly Probe[], variables: Variables): string {
  const values = Object.entries({ ...variables, PLACE: mark }).map(([name, value]) => `${name}='${value}'`)
  return `env ${values.join(' ')} /escape/run ${WIDTH} ${probes.map(({ id }) => id).join(' ')}`
}

/** The lines of `perl/run` in an output, whatever stands before them in a log. */
export function readOutcomes(lines: readonly string[]): Outcomes {
  const found = lines.map((line) => /escape\| (\S+) \| (\S+) \| (.*?)\s*$/.exec(line)).filter((match) => match !== null)
  return new Map(found.map(([, mark, id, outcome]) => [`${mark} ${id}`, outcome ?? '']))
}

/** Runs a command of probes in a sandbox. */
export async function runInSandbox(sandbox: Sandbox, account: Account, command: string): Promise<Outcomes> {
  const { stdout } = await sandbox.commands.run(command, { user: account, timeoutMs: BUILD_DEADLINE_MS })
  return readOutcomes(stdout.split('\n'))
}

/** Runs commands in the RUN steps of a template that is built from an image. The template stays, for sandboxes. */
export async function runInTemplate(
  connection: Connection,
  { image, name, commands }: { readonly image: string; readonly name: string; readonly commands: Commands },
): Promise<Outcomes> {
  const lines: string[] = []
  const template = commands.reduce((before, [user, command]) => before.runCmd(command, { user }), Template().fromImage(image))
  await Template.build(template, name, {
    ...connection,
    cpuCount: 1,
    memoryMB: 512,
    onBuildLogs: ({ message }) => lines.push(...message.split('\n')),
  })
  return readOutcomes(lines)
}

/** The steps that run commands in a Dockerfile. */
export function stepsOf(commands: Commands): string[] {
  return commands.flatMap(([user, command]) => [`USER ${user}`, `RUN ${command}`])
}

/**
 * Builds a Dockerfile, which the classic builder of the engine runs, and adds the lines of its log to `lines`.
 *
 * @throws Error with the reason of a refusal or of a failed build
 */
export async function runInDockerfile(
  connection: Connection,
  image: string,
  { steps, lines }: { readonly steps: readonly string[]; readonly lines: string[] },
): Promise<void> {
  const dockerfile = [`FROM ${image}`, ...steps].join('\n')
  const made = await callApi(connection, 'POST /templates', { dockerfile, alias: `escape-${randomId(10)}` })
  const path = `/templates/${String(made['templateID'])}/builds/${String(made['buildID'])}`
  await callApi(connection, `POST ${path}`)
  const until = performance.now() + BUILD_DEADLINE_MS
  let offset = 0
  while (true) {
    const { status, logEntries, reason } = await callApi(connection, `GET ${path}/status?logsOffset=${offset}`)
    const entries = logEntries as { message: string }[]
    offset += entries.length
    lines.push(...entries.flatMap(({ message }) => message.split('\n')))
    if (entries.length > 0) continue
    if (status === 'ready') return
    const message = (reason as { message?: string } | undefined)?.message ?? ''
    if (status === 'error') throw new Error(`${message} (after: ${lines.slice(-3).join(' / ')})`)
    if (performance.now() > until) throw new Error(`the build of the Dockerfile is still ${String(status)}`)
    await delay(200)
  }
}

/** Calls the control plane with the key of a team and the token of its user. @throws Error with the answer unless it is a success */
export async function callApi(
  { apiUrl, apiKey, accessToken }: Connection,
  operation: string,
  body?: object,
): Promise<Record<string, unknown>> {
  const [method = 'GET', path = '/'] = operation.split(' ')
  // The first generation of templates is the user's, everything else the team's.
  const isOwn = operation === 'POST /templates' || /^POST \/templates\/\w+\/builds\/[\w-]+$/.test(operation)
  const credential = isOwn ? { authorization: `Bearer ${accessToken}` } : { 'x-api-key': apiKey }
  const headers = { ...credential, ...(body !== undefined && { 'content-type': 'application/json' }) }
  const answer = await fetch(`${apiUrl}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${answer.status}: ${text}`)
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
}

/** Starts a program in a sandbox that goes on until the sandbox ends, and waits for its first line. */
export async function startInSandbox(sandbox: Sandbox, account: Account, command: string): Promise<CommandHandle> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const handle = await sandbox.commands.run(command, {
    user: account,
    background: true,
    timeoutMs: 0,
    onStdout: (text) => resolve(text),
    onStderr: (text) => resolve(text),
  })
  const first = await promise
  if (!first.startsWith('ready')) throw new Error(`a program in a sandbox did not start: ${first}`)
  return handle
}
