import { ok, warn, type Check, type Finding } from '../check.ts'

export const restartsEndSandboxes: Check = {
  id: 'E7',
  title: 'Restarts end sandboxes',
  checks: '`/info`: warns when LiveRestoreEnabled is false',
  why: 'Without live-restore every restart or update of the engine ends all running sandboxes.',
  todo: 'Set "live-restore": true in /etc/docker/daemon.json and reload the engine (systemctl reload docker).',
  async run({ engine }): Promise<Finding> {
    const { LiveRestoreEnabled } = await engine.info()
    return LiveRestoreEnabled ? ok('live-restore is on') : warn('live-restore is off: a restart of the engine ends all sandboxes')
  },
}
