/** `npm start`: everything on one machine. Set-up and servers are in `run.ts`; this file imports nothing that could fail to load. */
if (process.platform === 'linux') {
  const { applyHeapLimit } = await import('./process/heap-limit.ts')
  applyHeapLimit(process.env)
  const { run } = await import('./run.ts')
  process.exit(await run(process.env, process.stdout))
}
const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { darwin: 'macOS', win32: 'Windows' }
console.error(
  `sandyard: "npm start" needs Linux, because its proxy dials the addresses of containers: on ${SYSTEMS[process.platform] ?? process.platform} ` +
    'use "docker compose up", which runs the proxy beside the sandboxes, or run this in a Linux virtual machine.',
)
process.exit(1)
