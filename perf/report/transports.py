"""How messages travel on one machine: names, and what tells Open MPI to send them so."""

# Variables of the environment reach the ranks under every launcher: mpirun, srun, jsrun, flux.
TRANSPORTS = {
    "default": {},
    "shm": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,vader"},
    "tcp": {"OMPI_MCA_pml": "ob1", "OMPI_MCA_btl": "self,tcp", "OMPI_MCA_btl_tcp_if_include": "lo"},
}


def words(transport):
    """NAME=VALUE, for `env`."""
    return [f"{name}={value}" for name, value in TRANSPORTS[transport].items()]
