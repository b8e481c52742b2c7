import { CommandExitError, type Sandbox } from 'e2b'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { canLimitDisk } from '../../../packages/runtime-docker/src/engine/disk-limit.ts'
import type { Course } from '../course.ts'
import type { Account } from '../probe.ts'
import type { Variables } from '../world/targets.ts'
import type { Drill, DrillResult } from './drill.ts'

interface Resource {
  readonly id: string
  readonly title: string
  /** A kind of `perl/hold`. */
  readonly kind: string
  /** More than a sandbox may have; small enough for every host. */
  readonly count: number
  readonly accounts?: readonly Account[]
  /**
   * The kernel counts it for the account on the whole host and has no limit for one container. A sandbox can then take what others need;
   * SECURITY.md says so.
   */
  readonly isShared?: boolean
}

const RESOURCES: readonly Resource[] = [
  { id: 'exhaust-processes', title: 'take all processes', kind: 'processes', count: 400, accounts: ['user', 'root'] },
  { id: 'exhaust-files', title: 'open more files than one process may', kind: 'files', count: 70_000 },
  { id: 'exhaust-memory', title: 'take more memory than the sandbox has', kind: 'memory', count: 700 },
  { id: 'exhaust-shared-memory', title: 'fill the shared memory', kind: 'shared-memory', count: 400 },
  { id: 'exhaust-inotify', title: "take the account's inotify instances of the host", kind: 'inotify', count: 300, isShared: true },
  { id: 'exhaust-terminals', title: "take a large part of the host's terminals", kind: 'terminals', count: 512, isShared: true },
]

const HOLD = 'perl /tmp/hold'
const DEADLINE_MS = 30_000

/** Takes resources of the kernel in a sandbox, in bounded numbers, while its neighbour needs some of the same. */
export const EXHAUSTION_DRILLS: readonly Drill[] = [
  ...RESOURCES.map((resource) => ({ id: resource.id, title: resource.title, run: (course: Course) => exhaust(course, resource) })),
  { id: 'exhaust-connections', title: "fill the host's table of connections", run: openFlows },
  { id: 'exhaust-disk', title: 'fill the disk of the host', run: fillDisk },
]

async function exhaust(course: Course, { kind, count, accounts = ['user'], isShared = false }: Resource): Promise<DrillResult[]> {
  const attacker = await course.attacker()
  const taken = await course.targets.allowed(() => `/escape/hold ${kind} ${count} 0`, 'none')
  const results: DrillResult[] = []
  for (const account of accounts) {
    const holder = await hold(attacker, account, `/escape/hold ${kind} ${count}`)
    const neighbour = await outcomeOf(course.neighbour, 'true')
    const one = await firstLine(course.neighbour, `${HOLD} ${kind} 1`)
    await holder.end()
    // What it held is free a moment after its end.
    const after = await pollUntil({ what: 'the end of what was held', timeoutMs: DEADLINE_MS, everyMs: 50 }, async () =>
      (await outcomeOf(attacker, 'true')) === 'exit 0' ? 'exit 0' : undefined,
    ).catch((err: unknown) => (err as Error).message)
    const isTaken = holder.said.startsWith(`held ${count}`) && !holder.said.includes('then')
    const harm = [
      ...(isTaken ? [`it ${holder.said}`] : []),
      ...(neighbour === 'exit 0' ? [] : [`the neighbour's true: ${neighbour}`]),
      ...(one === 'held 1' ? [] : [`the neighbour ${one}`]),
      ...(after === 'exit 0' ? [] : [`afterwards true: ${after}`]),
    ]
    const spot = { place: 'sandbox' as const, account }
    const control = controlOf(taken, holder.said)
    if (harm.length === 0) results.push({ spot, control, result: `blocked: ${holder.said}; the neighbour notices nothing` })
    else if (isShared) results.push({ spot, control: 'absent: a limit for each container', result: `absent: a limit; ${harm.join('; ')}` })
    else results.push({ spot, control, result: `open: ${harm.join('; ')}` })
  }
  return results
}

/** A control that took no more than the sandbox shows no limit of the sandbox. */
function controlOf(taken: string, said: string): string {
  const [, allowed = '0'] = /held (\d+)/.exec(taken) ?? []
  const [, got = '0'] = /held (\d+)/.exec(said) ?? []
  return Number(allowed) > Number(got) ? `open: held ${allowed}` : `absent: more than ${allowed} for any container of this engine`
}

async function fillDisk(course: Course): Promise<DrillResult[]> {
  const spot = { place: 'sandbox' as const, account: 'user' as const }
  const attacker = await course.attacker()
  const { diskSizeMB } = await course.describe(attacker)
  if (!(await canLimitDisk(course.bench.docker, 'test-escape'))) {
    return [{ spot, control: 'absent: limits of the storage driver', result: 'absent: a limit' }]
  }
  const fill = `fallocate -l ${diskSizeMB + 64}M /tmp/full && echo open: filled || echo blocked: "$?"; rm -f /tmp/full`
  const result = await firstLine(attacker, fill)
  return [{ spot, control: 'open: the engine has such limits', result }]
}

/** Opens more connections, as the host tracks them, than a sandbox may have. */
async function openFlows(course: Course): Promise<DrillResult[]> {
  const attacker = await course.attacker()
  const count = course.connections * 2
  const open = (variables: Variables, place: string): string => `PUBLIC=${variables['PUBLIC']} PLACE=${place} /escape/hold flows ${count}`
  await course.targets.allowed((variables) => `${open(variables, 'flows-control')} 0`, 'none')
  const holder = await hold(attacker, 'user', open(course.variables(), 'flows'))
  const neighbour = await outcomeOf(
    course.neighbour,
    `curl --silent --fail --max-time 10 http://${course.variables()['PUBLIC']}:${course.variables()['DAEMON_PORT']}/health`,
  )
  await holder.end()
  const arrived = [...(await course.targets.arrived())]
  const numberOf = (place: string): number => arrived.filter((marker) => marker.startsWith('flow-') && marker.endsWith(` ${place}`)).length
  const [allowed, got] = [numberOf('flows-control'), numberOf('flows')]
  const control = `${allowed > course.connections ? 'open' : 'broken'}: ${allowed} of ${count} arrived`
  const harm = neighbour === 'exit 0' ? '' : `; the neighbour's request: ${neighbour}`
  const isBounded = holder.said === `held ${count}` && got <= course.connections && harm === ''
  return [
    {
      spot: { place: 'sandbox', account: 'user' },
      control,
      result: `${isBounded ? 'blocked' : 'open'}: ${got} of ${count} arrived${harm}`,
    },
  ]
}

interface Holder {
  readonly said: string
  end(): Promise<void>
}

/** Starts a program that keeps what it takes, and waits for its report or its end. */
async function hold(sandbox: Sandbox, account: Account, command: string): Promise<Holder> {
  const { promise, resolve } = Promise.withResolvers<string>()
  const handle = await sandbox.commands.run(command, {
    user: account,
    background: true,
    timeoutMs: DEADLINE_MS,
    onStdout: (text) => resolve(text.trim()),
  })
  const ended = handle.wait().then(
    () => 'ended',
    (err: unknown) => (err instanceof CommandExitError ? `ended with ${err.exitCode}` : `broke: ${String(err)}`),
  )
  const said = await Promise.race([promise, ended])
  const end = async (): Promise<void> => {
    await handle.kill()
    await ended
  }
  return { said, end }
}

async function outcomeOf(sandbox: Sandbox, command: string): Promise<string> {
  return sandbox.commands.run(command, { user: 'user', timeoutMs: DEADLINE_MS }).then(
    ({ exitCode }) => `exit ${exitCode}`,
    (err: unknown) => (err as Error).message,
  )
}

/** The first line of a command that may go on. */
async function firstLine(sandbox: Sandbox, command: string): Promise<string> {
  const holder = await hold(sandbox, 'user', command)
  await holder.end()
  return holder.said.split('\n')[0] ?? ''
}
