import { countEach, runMany, scaled, type Attack } from './attack.ts'
import { callDaemon, runInSandbox } from './daemon-call.ts'
import { fieldsOf } from './http-call.ts'

/** More than the cap of 1,024, so that the cap is reached. */
const WATCHERS = 1100
const FILES = 300
const WIDTH = 32

/** Watchers of one directory that are never polled while files are created and removed, so that each watcher stores every event. */
export const watchers: Attack = {
  name: '1,000 watchers',
  async run(target, signal) {
    const [count, files] = [scaled(target, WATCHERS), scaled(target, FILES)]
    await runInSandbox(target, 'mkdir -p /tmp/watched', signal)
    const create = async (): Promise<{ status: string; id: unknown }> => {
      const answer = await callDaemon(target, 'filesystem.Filesystem/CreateWatcher', { path: '/tmp/watched', recursive: true }, signal)
      return { status: answer.status, id: fieldsOf(answer)['watcherId'] }
    }
    const created = await runMany({ count, width: WIDTH }, create, signal)
    const touched = await runInSandbox(target, `cd /tmp/watched && for n in $(seq ${files}); do echo > f$n; rm f$n; done`, signal)
    const removed = await runMany(
      { count: created.length, width: WIDTH },
      async (index) => {
        const watcherId = created[index]?.id
        if (typeof watcherId !== 'string') return 'none made'
        return (await callDaemon(target, 'filesystem.Filesystem/RemoveWatcher', { watcherId }, signal)).status
      },
      signal,
    )
    return {
      sent: `${count} watchers of one directory, then ${files} files made and removed in it; nobody polls`,
      observed: `created ${countEach(created.map(({ status }) => status))}; files ${touched}; removed ${countEach(removed)}`,
      ...(touched !== 'exit status 0' && { faults: [`the command beside the watchers ended with ${touched}`] }),
    }
  },
}
