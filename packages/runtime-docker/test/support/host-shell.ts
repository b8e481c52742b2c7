import { randomId } from '@sandyard/kit/ids/ids'
import type Docker from 'dockerode'

/**
 * Runs a shell script in the network and process namespaces of the engine's host, from an image with iproute2 and util-linux. So a
 * test can create a network without tools on the machine itself.
 */
export async function onHost(docker: Docker, image: string, script: string): Promise<string> {
  const container = await docker.createContainer({
    name: `sandyard-test-${randomId(8)}`,
    Image: image,
    Entrypoint: ['/bin/sh', '-euc', script],
    Cmd: [],
    Tty: true,
    HostConfig: {
      NetworkMode: 'host',
      PidMode: 'host',
      CapAdd: ['NET_ADMIN', 'SYS_ADMIN', 'SYS_PTRACE'],
      SecurityOpt: ['apparmor=unconfined'],
    },
  })
  try {
    await container.start()
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    const text = (await container.logs({ stdout: true, stderr: true })).toString('utf8')
    if (code !== 0) throw new Error(`the script on the host failed: ${text}`)
    return text
  } finally {
    await container.remove({ force: true })
  }
}
