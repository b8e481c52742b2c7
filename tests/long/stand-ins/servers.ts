import { equal, match } from 'node:assert/strict'
import { CONFINED, Container } from './container.ts'

const CADDYFILE = `{
  skip_install_trust
}
https://sandyard.test, https://*.sandyard.test {
  tls internal
  respond "hello {host}"
}
`

async function caddyServes(): Promise<void> {
  await using container = new Container()
  const flags = [
    ...CONFINED,
    '--cap-add',
    'NET_BIND_SERVICE',
    '--tmpfs',
    '/config',
    '--tmpfs',
    '/srv',
    '--add-host',
    'a.sandyard.test:127.0.0.1',
    '--env',
    `CADDYFILE=${CADDYFILE}`,
  ]
  const command = ['sh', '-c', 'printf %s "$CADDYFILE" > /srv/Caddyfile && exec caddy run --config /srv/Caddyfile --adapter caddyfile']
  await container.start('caddy:2.10.2', { volume: '/data', flags, command })
  await container.whenOk('sh', '-c', 'ls /data/caddy/certificates/local/*/*.crt')
  const page = await container.exec('wget', '--no-check-certificate', '-qO-', 'https://a.sandyard.test/')
  equal(page, 'hello a.sandyard.test')
}

async function caddyHasTheCommandLine(): Promise<void> {
  await using container = new Container()
  await container.start('caddy:2.10.2', { volume: '/data', flags: [] })
  match(await container.whenOk('wget', '-qO-', 'http://127.0.0.1/'), /<html/i)
  match(await container.exec('cat', '/proc/1/cmdline'), /^caddy\0run\0--config\0\/etc\/caddy\/Caddyfile\0--adapter\0caddyfile/)
}

async function prometheusServes(): Promise<void> {
  await using container = new Container()
  await container.start('prom/prometheus:v3.5.0', { volume: '/prometheus', flags: CONFINED })
  match(await container.whenOk('wget', '-qO-', 'http://127.0.0.1:9090/-/ready'), /Ready/)
  equal(await container.exec('id', '-un'), 'nobody')
  match(await container.exec('promtool', 'check', 'config', '/etc/prometheus/prometheus.yml'), /SUCCESS/)
}

export const SERVER_TRIALS = {
  'caddy serves TLS with its own authority, read-only, with one capability': caddyServes,
  'caddy has the command line of the official image': caddyHasTheCommandLine,
  'prometheus runs as nobody, read-only, without capabilities': prometheusServes,
}
