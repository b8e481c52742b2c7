import { createInterface } from 'node:readline/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import { findProgram } from '@sandyard/runtime-docker/host/find-program'
import { runStep } from '@sandyard/runtime-docker/host/run-step'
import { StartFailure } from '../failures/start-failure.ts'
import { isStillRunning, type ProcessIdentity } from '../process/process-identity.ts'
import { mountControlGroups } from './control-groups.ts'
import { readHostFacts, type HostFacts } from './host-facts.ts'
import { installEngine } from './install-engine.ts'
import { lastEngineError, MACHINE_ENGINE, removeStalePidFile, startOwnedDockerd } from './owned-dockerd.ts'
import { engineAddress, pingEngine, type EnginePing } from './ping-engine.ts'
import { planEngine } from './plan-engine.ts'

export interface EnsureEngineOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly say: (line: string) => void
  /** A person sits at the terminal and can be asked. */
  readonly isInteractive: boolean
}

export type AnsweringEngine = Extract<EnginePing, { kind: 'answers' }>

const ANSWER_TIMEOUT_MS = 60_000

/**
 * Returns once a Docker engine answers. Where none does, and this is root on Debian or Ubuntu, it installs the
 * distribution's engine and starts it, saying each step; the engine is left running when the server ends.
 *
 * @throws StartFailure with the one sentence that says what to do
 */
export async function ensureEngine({ environment, say, isInteractive }: EnsureEngineOptions): Promise<AnsweringEngine> {
  const ping = await pingEngine()
  if (ping.kind === 'answers') return ping
  const dockerHost = environment['DOCKER_HOST']
  const host = readHostFacts()
  const plan = planEngine({
    ping,
    host,
    address: engineAddress(dockerHost),
    isAddressGiven: dockerHost !== undefined && dockerHost !== '',
    isExternal: environment['SANDYARD_ENGINE'] === 'external',
  })
  if (plan.act === 'fail') throw new StartFailure(plan.sentence)
  const wish = plan.act === 'start' ? 'start the Docker engine (dockerd)' : 'install Docker (docker.io) and start its engine'
  if (isInteractive && !(await isAllowed(`No Docker engine answers on this machine. May I ${wish}? [Y/n] `))) {
    throw new StartFailure('No Docker engine answers on this machine: start one and run this again.')
  }
  if (plan.act === 'install-and-start') {
    say('no Docker engine answers on this machine: installing the one of the distribution')
    await installEngine(say)
  }
  return startEngine(host, findProgram('dockerd'), say)
}

async function isAllowed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^(|y|yes)$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}

/** The package's own set-up may have started the engine already; a service manager is asked before a process is started by hand. */
async function startEngine(host: HostFacts, program: string | undefined, say: (line: string) => void): Promise<AnsweringEngine> {
  if (program === undefined) throw new StartFailure('Docker was installed, but there is no dockerd: start an engine and run this again.')
  if (host.hasSystemd) {
    say('starting the Docker engine (systemctl start docker) ...')
    const { ok, tail } = await runStep('systemctl', ['start', 'docker'], { timeoutMs: ANSWER_TIMEOUT_MS })
    if (!ok)
      throw new StartFailure(`systemctl could not start the Docker engine (${tail.split('\n')[0] ?? ''}): see "journalctl -u docker".`)
    return waitForEngine(undefined)
  }
  const early = await pingEngine()
  if (early.kind === 'answers') return early
  say(`starting the Docker engine (dockerd; log in ${MACHINE_ENGINE.logFile}; "npm run engine:stop" ends it) ...`)
  await mountControlGroups()
  removeStalePidFile(MACHINE_ENGINE.dockerPidFile)
  return waitForEngine(startOwnedDockerd({ program, args: [], ...MACHINE_ENGINE }))
}

/** An engine that ends early is no failure yet: another start at the same moment may have won, and its engine answers. */
async function waitForEngine(started: ProcessIdentity | undefined): Promise<AnsweringEngine> {
  let endedLooks = 0
  const answer = await pollUntil<AnsweringEngine | 'ended'>(
    { what: 'the engine', timeoutMs: ANSWER_TIMEOUT_MS, everyMs: 250 },
    async () => {
      const ping = await pingEngine()
      if (ping.kind === 'answers') return ping
      if (started !== undefined && !isStillRunning(started)) endedLooks += 1
      return endedLooks > 20 ? 'ended' : undefined
    },
  ).catch(() => 'ended' as const)
  if (answer !== 'ended') return answer
  throw new StartFailure(`The Docker engine did not start (${lastEngineError(MACHINE_ENGINE.logFile)}): see ${MACHINE_ENGINE.logFile}.`)
}
