import { readSettings } from './settings.ts'
import { findSandboxContainer } from './engine.ts'
import { download } from './http-call.ts'
import { quantile, timeMs } from './samples.ts'
import { readFileSync } from 'node:fs'
import { findServerProcesses } from './server-processes.ts'
import { Sandbox } from 'e2b'
const s = readSettings(process.env, { reference: undefined, count: undefined })
const [, , mibText = '1', seconds = '6', gap = '0'] = process.argv
const mib = Number(mibText)
const sandbox = await Sandbox.create({ timeoutMs: 900_000 })
const { NetworkSettings } = await findSandboxContainer(sandbox.sandboxId)
const [address] = Object.values(NetworkSettings.Networks).map(({ IPAddress }) => IPAddress)
await sandbox.commands.run(`head -c ${mib * 1048576} /dev/urandom > /tmp/big`)
const h = { 'X-Access-Token': (sandbox as any).envdAccessToken, 'E2b-Sandbox-Id': sandbox.sandboxId, 'E2b-Sandbox-Port': '49983' }
const { execFileSync } = await import('node:child_process')
const daemonPid = execFileSync('sh', [
  '-c',
  `for c in $(docker ps -q); do docker inspect -f '{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}' $c; done | grep " ${address}$" | cut -d' ' -f1`,
])
  .toString()
  .trim()
const daemon = Number(execFileSync('pgrep', ['-P', daemonPid]).toString().trim().split('\n')[0])
const [proxy] = await findServerProcesses(s.sandboxUrl)
const cpu = (p: number) => {
  const f = readFileSync(`/proc/${p}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(f[11]) + Number(f[12])) * 10
}
for (const [name, origin] of [
  ['proxy', s.sandboxUrl],
  ['direct', `http://${address}:49983`],
] as const) {
  const out: number[] = []
  const go = () => timeMs(() => download({ url: new URL('/files?path=/tmp/big&username=user', origin), headers: h, mib }))
  for (let i = 0; i < 10; i++) await go()
  const b = [cpu(proxy!.pid), cpu(daemon), process.cpuUsage()] as const
  const end = Date.now() + Number(seconds) * 1000
  console.log('go', name)
  while (Date.now() < end) {
    out.push(await go())
    if (gap !== '0') await new Promise((r) => setTimeout(r, Number(gap)))
  }
  const u = process.cpuUsage(b[2])
  console.log(
    name,
    mib,
    'MiB p50 ms',
    quantile(out, 0.5).toFixed(2),
    ((mib * 1000) / quantile(out, 0.5)).toFixed(0),
    'MiB/s; cpu ms each: proxy',
    ((cpu(proxy!.pid) - b[0]) / out.length).toFixed(2),
    'daemon',
    ((cpu(daemon) - b[1]) / out.length).toFixed(2),
    'client',
    ((u.user + u.system) / 1000 / out.length).toFixed(2),
  )
}
await sandbox.kill()
