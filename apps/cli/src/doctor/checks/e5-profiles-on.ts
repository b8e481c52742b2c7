import { fail, warn, worstOf, type Check, type Finding } from '../check.ts'

export const profilesOn: Check = {
  id: 'E5',
  title: 'Profiles on',
  checks: '`/info` SecurityOptions: fails without seccomp or with an unconfined default, warns without AppArmor and SELinux',
  why: 'The profiles keep system calls and files of the host away from processes of sandboxes and builds, also where the kernel has a flaw.',
  todo: 'Use a kernel and an engine with seccomp, and load AppArmor (or SELinux) before the engine starts: apt-get install apparmor, then restart the engine.',
  async run({ engine }): Promise<Finding> {
    const options = (await engine.info()).SecurityOptions ?? []
    const seccomp = options.find((option) => option.split(',')[0] === 'name=seccomp')
    const hasModule = options.some((option) => /^name=(?:apparmor|selinux)(?:,|$)/.test(option))
    return worstOf(
      [
        seccomp === undefined ? fail('the engine has no seccomp') : undefined,
        seccomp?.includes('profile=unconfined') === true ? fail('the default seccomp profile of the engine is "unconfined"') : undefined,
        hasModule ? undefined : warn('neither AppArmor nor SELinux confines containers'),
      ],
      options.join(' '),
    )
  },
}
