import { once } from 'node:events'
import { createServer } from 'node:net'
import { localUrl } from '@sandyard/api/program/listening'
import { fail, ok, worstOf, type Check, type Finding } from '../check.ts'
import type { Facts } from '../facts/facts.ts'

interface Port {
  readonly purpose: string
  readonly host: string
  readonly port: number
  readonly setting: string
}

export const ports: Check = {
  id: 'N1',
  title: 'Ports',
  checks: 'binds each port of the settings: one that cannot be bound and has no server of ours fails, with the process that holds it',
  why: 'The server does not start while another program has one of its ports.',
  todo: 'End that program, or choose another port with the setting.',
  async run(facts): Promise<Finding> {
    const all = portsOf(facts)
    const findings = await Promise.all(all.map((port) => judge(facts, port)))
    return worstOf(findings, findings.map((finding) => finding?.found).join(', ') || 'every port is chosen at the start')
  },
}

/** Without ports that are chosen at the start of a server. */
function portsOf({ settings }: Facts): Port[] {
  const { bind, apiPort, proxyPort, metricsPort, egressHealthPort } = settings
  const all: Port[] = [
    { purpose: 'API', host: bind, port: apiPort, setting: 'SANDYARD_API_PORT' },
    { purpose: 'sandbox proxy', host: bind, port: proxyPort, setting: 'SANDYARD_PROXY_PORT' },
    { purpose: 'metrics', host: bind, port: metricsPort, setting: 'SANDYARD_METRICS_PORT' },
    { purpose: 'egress gateway', host: '127.0.0.1', port: egressHealthPort, setting: 'SANDYARD_EGRESS_HEALTH_PORT' },
  ]
  return all.filter(({ port }) => port !== 0)
}

async function judge(facts: Facts, { purpose, host, port, setting }: Port): Promise<Finding> {
  const refusal = await tryToBind(host, port)
  if (refusal === undefined) return ok(`${port} free (${purpose})`)
  if (await isOurs(facts, localUrl(host, port))) return ok(`${port} ours (${purpose})`)
  const listener = facts.host.listeners().find((candidate) => candidate.port === port)
  const holder = listener && facts.host.holderOf(listener)
  const who = holder === undefined ? 'a process that this user cannot see' : `process ${holder.pid} (${holder.args.join(' ').slice(0, 80)})`
  const found =
    refusal === 'EADDRINUSE' ? `port ${port} (${purpose}) is held by ${who}` : `port ${port} (${purpose}) on ${host}: ${refusal}`
  return fail(found, { todo: `Choose another port with ${setting}, or end what uses it.` })
}

async function isOurs({ servers }: Facts, url: string): Promise<boolean> {
  if (await servers.isOurs(url)) return true
  const page = await servers.get(`${url}/metrics`).catch(() => undefined)
  return page?.text.includes('sandyard_') === true
}

/** The code of the error; undefined when the port is free. */
async function tryToBind(host: string, port: number): Promise<string | undefined> {
  const probe = createServer()
  try {
    probe.listen(port, host)
    await once(probe, 'listening')
    return undefined
  } catch (err) {
    return (err as NodeJS.ErrnoException).code ?? String(err)
  } finally {
    await new Promise((resolve) => probe.close(resolve))
  }
}
