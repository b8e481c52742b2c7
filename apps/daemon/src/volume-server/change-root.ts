import { cFunction, checkCall, loadCLibrary } from '../sys/c-library.ts'

const chroot = cFunction<[string]>('int chroot(const char *path)')

/**
 * Makes a directory the root of this process. From then on the kernel resolves every path and every link below it, whatever other processes
 * change meanwhile. No module can be loaded from a file any more. @throws the system error
 */
export async function changeRoot(path: string): Promise<void> {
  await loadCLibrary()
  process.chdir(path)
  checkCall('chroot', chroot('.'))
  process.chdir('/')
}
