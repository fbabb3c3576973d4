export EDITOR={{ editor }}  # of {{ grains.kernel }}
