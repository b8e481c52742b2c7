import { createInterface } from 'node:readline/promises'
import { pollUntil } from '@sandyard/kit/async/poll-until'
import type { Outbound } from '@sandyard/kit/outbound/outbound'
import { proxyVariables } from '@sandyard/kit/outbound/proxy-variables'
import { findProgram } from '@sandyard/runtime-docker/host/find-program'
import { installPackages } from '@sandyard/runtime-docker/host/install-packages'
import { runStep } from '@sandyard/runtime-docker/host/run-step'
import { StartFailure } from '@sandyard/api/program/failures/start-failure'
import { isStillRunning, type ProcessIdentity } from '../process/process-identity.ts'
import { hasControlGroups, mountControlGroups } from './control-groups.ts'
import { engineEnvironment } from './engine-environment.ts'
import { configureProfile, profileArguments } from './engine-profile.ts'
import { readHostFacts, type HostFacts } from './host-facts.ts'
import { lastEngineError, MACHINE_ENGINE, removeStalePidFile, startOwnedDockerd } from './owned-dockerd.ts'
import { engineAddress, pingEngine, type EnginePing } from './ping-engine.ts'
import { planEngine } from './plan-engine.ts'

export interface EnsureEngineOptions {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly outbound: Outbound
  readonly say: (line: string) => void
  /** A person at the terminal can be asked. */
  readonly isInteractive: boolean
}

export type AnsweringEngine = Extract<EnginePing, { kind: 'answers' }>

const ANSWER_TIMEOUT_MS = 60_000

/**
 * Returns when a Docker engine answers. If none does, and this is root on Debian or Ubuntu, it installs the
 * distribution's engine and starts it, and reports each step. The engine keeps running when the server ends.
 *
 * @throws StartFailure with one sentence that says what to do
 */
export async function ensureEngine({ environment, outbound, say, isInteractive }: EnsureEngineOptions): Promise<AnsweringEngine> {
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
    // The package may start its engine by itself.
    configureProfile()
    await installEngine(say, outbound)
  }
  return startEngine({ host, environment, outbound, say })
}

/** Installs the distribution's engine, and mounts control groups if the boot did not. */
async function installEngine(say: (line: string) => void, outbound: Outbound): Promise<void> {
  const packages = ['docker.io', 'apparmor', 'ca-certificates']
  await installPackages(hasControlGroups() ? packages : [...packages, 'cgroupfs-mount'], { say, env: proxyVariables(outbound) })
}

async function isAllowed(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    return /^(|y|yes)$/i.test((await terminal.question(question)).trim())
  } finally {
    terminal.close()
  }
}

interface StartEngineOptions extends Pick<EnsureEngineOptions, 'environment' | 'outbound' | 'say'> {
  readonly host: HostFacts
}

/** The package's set-up may have started the engine already. A service manager is preferred to a process of our own. */
async function startEngine({ host, environment, outbound, say }: StartEngineOptions): Promise<AnsweringEngine> {
  const program = findProgram('dockerd')
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
  const withOutbound = engineEnvironment(environment, outbound, MACHINE_ENGINE.authoritiesFolder)
  return waitForEngine(startOwnedDockerd({ program, args: profileArguments(), environment: withOutbound, ...MACHINE_ENGINE }))
}

/** An engine that ends early is not a failure yet: a concurrent start may have won, and its engine answers. */
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
