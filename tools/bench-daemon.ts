/** `npm run bench:daemon`: measures the daemon alone, as ratios within one run. See bench/README.md. */
import '../bench/src/daemon/main.ts'
