#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
# The job is started again where a node fails, and by this script where that helps. All starts write one log.
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
# Ten minutes before the end of its time the script is told, so that the state is saved and the job goes on later.
#SBATCH --signal=B:TERM@600
set -euo pipefail

