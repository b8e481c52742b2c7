/** Runtimes whose containers have the kernel of the host; gVisor and Kata have one of their own. */
const SHARED_KERNEL: readonly string[] = ['runc', 'crun', 'youki', 'io.containerd.runc.v2']

export function sharesKernel(runtime: string): boolean {
  return SHARED_KERNEL.includes(runtime)
}
