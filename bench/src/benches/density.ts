import { setTimeout as delay } from 'node:timers/promises'
import { Sandbox } from 'e2b'
import { cpuMsOf } from '../container-cpu.ts'
import { findInstallation, findSandboxContainer, getContainer, listContainers, type ContainerFacts } from '../engine.ts'
import { inParallel } from '../in-parallel.ts'
import { privateMib } from '../private-memory.ts'
import type { Comparison } from '../report.ts'
import { quantile, timeMs, type Samples } from '../samples.ts'
import { cpuMsOfProcess, findServerProcesses } from '../server-processes.ts'
import type { Settings } from '../settings.ts'

const SANDBOXES = 100
/** The larger machine of the arithmetic. */
const MANY = 500
const WIDTH = 4
const CREATES = 15
const SETTLE_MS = 10_000
const IDLE_MS = 40_000
const LIFETIME_MS = 900_000
/** The engine, which `npm start` starts where none runs. It is shown, and is no share of the server: others start it elsewhere. */
const ENGINE: ReadonlySet<string> = new Set(['dockerd', 'containerd', 'containerd-shim-runc-v2'])

/** 100 idle sandboxes: what each costs in memory and CPU, and what they cost a create. The server needs SANDYARD_MAX_SANDBOXES above 100. */
export async function benchDensity({ apiUrl, count = SANDBOXES }: Settings): Promise<Comparison[]> {
  await timeCreates(2)
  const before = await timeCreates(CREATES)
  const sandboxes: Sandbox[] = []
  try {
    await inParallel(Array.from({ length: count }), WIDTH, async () => {
      sandboxes.push(await Sandbox.create({ timeoutMs: LIFETIME_MS }))
    })
    const containers = await inParallel(sandboxes, WIDTH, ({ sandboxId }) => findSandboxContainer(sandboxId))
    await delay(SETTLE_MS)
    const cpu = await measureCpu(apiUrl, containers, sandboxes[0]?.sandboxId ?? '')
    const memory = await inParallel(containers, WIDTH, ({ Id }) => privateMib(Id))
    const beside = await timeCreates(CREATES)
    await killAll(sandboxes)
    const none = [...before, ...(await timeCreates(CREATES))]
    print(cpu, memory)
    return [
      {
        what: `private memory of each of ${count} idle sandboxes`,
        unit: 'MiB',
        ours: memory,
        goal: { of: 'ours', at: ['p50', 'p95'], atMost: 22 },
      },
      {
        what: 'CPU of an idle sandbox, with its share of the server',
        unit: '% of a core',
        ours: cpu.each,
        goal: { of: 'ours', at: ['p50'], atMost: 0.1 },
      },
      {
        what: `create with ${count} running`,
        unit: 'ms',
        ours: beside,
        against: { name: 'with none', samples: none },
        goal: { of: 'ratio', at: ['p50', 'p95'], atMost: 1.5 },
      },
    ]
  } finally {
    await killAll(sandboxes)
  }
}

async function timeCreates(times: number): Promise<Samples> {
  const samples: number[] = []
  for (let turn = 0; turn < times; turn++) {
    let sandbox: Sandbox | undefined
    samples.push(await timeMs(async () => (sandbox = await Sandbox.create({ timeoutMs: LIFETIME_MS }))))
    await sandbox?.kill()
  }
  return samples
}

async function killAll(sandboxes: readonly Sandbox[]): Promise<void> {
  await inParallel(sandboxes, WIDTH, (sandbox) => sandbox.kill())
}

interface Cpu {
  /** Percent of a core, by sandbox: its own processes and an equal share of the server. */
  readonly each: Samples
  readonly sandboxes: Samples
  /** Percent of a core, by part of the server. */
  readonly server: Readonly<Record<string, number>>
}

/** Over a time in which no client calls. */
async function measureCpu(apiUrl: string, containers: readonly ContainerFacts[], sandboxId: string): Promise<Cpu> {
  const processes = await findServerProcesses(apiUrl)
  const guards = await findGuards(sandboxId)
  const read = async () => ({
    at: performance.now(),
    sandboxes: await Promise.all(containers.map(({ State }) => cpuMsOf(State.Pid))),
    processes: await Promise.all(processes.map(({ pid }) => cpuMsOfProcess(pid))),
    guards: await Promise.all(guards.map(({ State }) => cpuMsOf(State.Pid))),
  })
  const first = await read()
  await delay(IDLE_MS)
  const last = await read()
  const percent = (from: Samples, to: Samples): Samples => to.map((ms, index) => ((ms - (from[index] ?? ms)) / (last.at - first.at)) * 100)
  const server: Record<string, number> = { guard: Math.max(0, ...percent(first.guards, last.guards)) }
  for (const [index, used] of percent(first.processes, last.processes).entries()) {
    const { role } = processes[index] ?? { role: '' }
    server[role] = (server[role] ?? 0) + used
  }
  const own = Object.entries(server).filter(([role]) => !ENGINE.has(role))
  const share = sum(own.map(([, used]) => used)) / containers.length
  const sandboxes = percent(first.sandboxes, last.sandboxes)
  return { each: sandboxes.map((own) => own + share), sandboxes, server }
}

/** The guards of the installation that has the sandbox: other servers may use the same engine. */
async function findGuards(sandboxId: string): Promise<ContainerFacts[]> {
  const installation = await findInstallation(sandboxId)
  const guards = await listContainers('sandyard.role=guard')
  const own = guards.filter(({ Labels }) => Labels['sandyard.installation'] === installation)
  return await Promise.all(own.map(({ Id }) => getContainer(Id)))
}

/** What a larger machine needs for many sandboxes. */
function print({ each, sandboxes, server }: Cpu, memory: Samples): void {
  const cpu = quantile(each, 0.5)
  const mib = quantile(memory, 0.5)
  const parts = Object.entries(server).map(([role, used]) => `${role} ${used.toFixed(2)} %`)
  console.log(
    [
      `idle, with ${each.length} sandboxes: each sandbox ${quantile(sandboxes, 0.5).toFixed(3)} % of a core; the server ${parts.join(', ')}`,
      `${MANY} idle sandboxes: ${MANY} x ${mib.toFixed(1)} MiB = ${((MANY * mib) / 1024).toFixed(1)} GiB, ${MANY} x ${cpu.toFixed(3)} % = ${((MANY * cpu) / 100).toFixed(2)} cores`,
      '',
    ].join('\n'),
  )
}

function sum(values: Samples): number {
  return values.reduce((all, value) => all + value, 0)
}
